import type { Document } from 'mongodb';

const READ_FIELDS: Record<string, readonly string[]> = {
  find: ['filter', 'sort', 'projection', 'skip', 'limit', 'hint'],
  aggregate: ['pipeline', 'cursor', 'hint'],
  count: ['query', 'limit', 'skip', 'hint'],
};

/**
 * The reads of a command in a form that can be explained. What updates and deletes select is asked as a `find`, since
 * not every server explains writes. Empty for what selects nothing.
 */
export function explainedForms(command: Document): Document[] {
  const name = Object.keys(command)[0] ?? '';
  const collection: unknown = command[name];
  const fields = READ_FIELDS[name];
  if (fields !== undefined) return [{ [name]: collection, ...chosen(command, fields) }];
  const find = (filter: unknown, rest: Document): Document => ({
    find: collection,
    filter: filter ?? {},
    ...rest,
  });
  switch (name) {
    case 'update':
      return (command['updates'] as Document[]).map(({ q, multi }) =>
        find(q, multi === true ? {} : { limit: 1 }),
      );
    case 'delete':
      return (command['deletes'] as Document[]).map(({ q, limit }) =>
        find(q, limit === 1 ? { limit: 1 } : {}),
      );
    case 'findAndModify':
      return [find(command['query'], { ...chosen(command, ['sort']), limit: 1 })];
    default:
      return [];
  }
}

function chosen(command: Document, fields: readonly string[]): Document {
  return Object.fromEntries(
    fields.flatMap((field) => (command[field] === undefined ? [] : [[field, command[field] as unknown]])),
  );
}
