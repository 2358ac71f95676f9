/** The parts of an element of an HTML tree that are used of tables. */
export interface TableNode {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown> | undefined;
  children?: TableNode[] | undefined;
}

function isCell({ tagName }: TableNode): boolean {
  return tagName === 'td' || tagName === 'th';
}

/** Of a table, not of those within it. */
export function rowsOf(table: TableNode): TableNode[] {
  return (table.children ?? [])
    .flatMap((part) => (part.tagName === 'tr' ? [part] : (part.children ?? [])))
    .filter(({ tagName }) => tagName === 'tr');
}

export function cellsOf(row: TableNode): TableNode[] {
  return (row.children ?? []).filter(isCell);
}
