export const SIGNS = ['==', '!=', '<', '<=', '>', '>=', 'like'] as const;
export type Sign = (typeof SIGNS)[number];

interface Condition {
  name: string;
  sign: Sign;
  value: string;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** What the server says of a file, and holds as texts, whatever they look like. */
const TEXT_FIELDS = new Set([
  '_id',
  'chunk_type',
  'content_sha256',
  'file_id',
  'filename',
  'original_filename',
  'parent_id',
  'relationship_id',
  'source',
]);

/** One with a 0 before it, such as a postcode, is a text: as a number it would be another. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Numbers and truth values may be stored as texts too, as in what the console's own editor adds. */
function isOfTwoKinds(name: string, value: string): boolean {
  return !TEXT_FIELDS.has(name) && (NUMBER.test(value) || value === 'true' || value === 'false');
}

/** Numbers, truth values and days as what they are, everything else as a text. */
function literal(name: string, value: string): string {
  if (isOfTwoKinds(name, value)) return value;
  if (!TEXT_FIELDS.has(name) && /^\d{4}-\d\d-\d\d$/.test(value)) return `ISO "${value}T00:00:00Z"`;
  return quoted(value);
}

/** Whatever kind is stored, it is equal or not; a beginning is meant by `like`. */
function comparison({ name, sign, value }: Condition): string {
  if (sign === 'like') return `like ${quoted(value.includes('%') ? value : `${value}%`)}`;
  if (isOfTwoKinds(name, value) && (sign === '==' || sign === '!='))
    return `${sign === '==' ? 'in' : 'not in'} [${value}, ${quoted(value)}]`;
  return `${sign} ${literal(name, value)}`;
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const RESERVED = new Set(['and', 'or', 'not', 'in', 'like', 'true', 'false', 'iso', 'metadata']);

function field(name: string): string {
  return PLAIN_NAME.test(name) && !RESERVED.has(name.toLowerCase()) ? name : `metadata[${quoted(name)}]`;
}

/** The filter with one more condition, which has to hold beside it. */
export function addCondition(filter: string, wanted: Condition): string {
  const condition = `${field(wanted.name)} ${comparison(wanted)}`;
  const before = filter.trim();
  if (before === '') return condition;
  return /\bor\b/i.test(before) ? `(${before}) and ${condition}` : `${before} and ${condition}`;
}
