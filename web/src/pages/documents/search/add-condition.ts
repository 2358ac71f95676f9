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

/** Numbers, truth values and days as what they are, everything else as a text; a beginning is meant by `like`. */
function literal(value: string, sign: Sign): string {
  if (sign === 'like') return quoted(value.includes('%') ? value : `${value}%`);
  if (/^-?\d+(?:\.\d+)?$/.test(value) || value === 'true' || value === 'false') return value;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return `ISO "${value}T00:00:00Z"`;
  return quoted(value);
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const RESERVED = new Set(['and', 'or', 'not', 'in', 'like', 'true', 'false', 'iso', 'metadata']);

function field(name: string): string {
  return PLAIN_NAME.test(name) && !RESERVED.has(name.toLowerCase()) ? name : `metadata[${quoted(name)}]`;
}

/** The filter with one more condition, which has to hold beside it. */
export function addCondition(filter: string, { name, sign, value }: Condition): string {
  const condition = `${field(name)} ${sign} ${literal(value, sign)}`;
  const before = filter.trim();
  if (before === '') return condition;
  return /\bor\b/i.test(before) ? `(${before}) and ${condition}` : `${before} and ${condition}`;
}
