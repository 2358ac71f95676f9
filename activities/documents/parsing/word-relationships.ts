const NAMESPACE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const REFERENCE = /\sr:(?:embed|link|id)\s?=\s?["']([^"'<>]+)["']/g;
const ROOT = /<(?:\w+:)?Relationships(?:[\s/][^<>]*)?>/;

/** The part whose relationships a part of this name holds; null for other parts, and for those of the package. */
export function ownerOfRelationships(name: string): string | null {
  const [, folder = '', owner] = /^(.*\/)?_rels\/([^/]+)\.rels$/.exec(name) ?? [];
  return owner === undefined ? null : folder + owner;
}

/**
 * The relationships of a part with one to nowhere for each reference of the part: mammoth falls over a reference that
 * has none. They stand in front, so that those that are there hold.
 */
export function withLostRelationships(relationships: string, part: string): string {
  const ids = new Set(Array.from(part.matchAll(REFERENCE), ([, id]) => id));
  const lost = [...ids].map((id) => `<Relationship xmlns="${NAMESPACE}" Id="${id}" Target=""/>`).join('');
  const root = ROOT.exec(relationships);
  if (relationships === '' || root?.[0].endsWith('/>'))
    return `<Relationships xmlns="${NAMESPACE}">${lost}</Relationships>`;
  if (root === null) return relationships;
  const start = root.index + root[0].length;
  return relationships.slice(0, start) + lost + relationships.slice(start);
}

interface DocumentElement {
  type: string;
  children?: DocumentElement[];
}

interface Notes {
  resolve(reference: DocumentElement): unknown;
}

/** A document as mammoth has read it without the references to notes that it does not have. */
export function withoutLostNotes<T extends DocumentElement & { notes: Notes }>(document: T): T {
  const isThere = (element: DocumentElement): boolean =>
    element.type !== 'noteReference' || document.notes.resolve(element) !== null;
  const prune = <E extends DocumentElement>(element: E): E =>
    element.children === undefined
      ? element
      : { ...element, children: element.children.filter(isThere).map(prune) };
  return prune(document);
}
