import { BlockList, isIP } from 'node:net';
import { minimatch } from 'minimatch';

/* A second, plain reading of the rule language, against which the compiled one is compared. Slow and obvious. */

export interface Leaf {
  field: string;
  op: string;
  value?: unknown;
}
export type Tree = Leaf | { op: 'and' | 'or'; conditions: Tree[] } | { op: 'not'; condition: Tree };

function get(signal: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        Object.prototype.toString.call(value) === '[object Object]' &&
        Object.keys(value as object).includes(key)
          ? (value as Record<string, unknown>)[key]
          : undefined,
      signal,
    );
}

function asList(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]) as string[];
}

function inRange(address: string, range: string): boolean {
  const [base = '', prefix] = range.split('/');
  const family = isIP(base);
  // The list itself would take an IPv4-mapped address for IPv4: here the families never mix.
  if (family === 0 || isIP(address) !== family || address.includes('%')) return false;
  const list = new BlockList();
  const name = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(base, Number(prefix ?? (family === 4 ? 32 : 128)), name);
  return list.check(address, name);
}

function isEmpty(found: unknown): boolean {
  return (
    found === undefined || found === null || found === '' || (Array.isArray(found) && found.length === 0)
  );
}

function leafReason({ field, op, value }: Leaf, signal: unknown): string | null {
  const found = get(signal, field);
  const list = Array.isArray(value) ? value : [];
  const has = (): boolean =>
    typeof found === 'string' ? found.includes(String(value)) : (found as unknown[]).includes(value);
  const searchable = typeof found === 'string' || Array.isArray(found);
  const first = (test: (pattern: string) => boolean): string | undefined =>
    typeof found === 'string' ? asList(value).find(test) : undefined;
  const say = (holds: boolean, text: string): string | null => (holds ? `${field} ${text}` : null);
  const named = (pattern: string | undefined, text: (pattern: string) => string): string | null =>
    pattern === undefined ? null : `${field} ${text(pattern)}`;
  const numeric = typeof found === 'number' ? found : NaN;
  switch (op) {
    case 'eq':
      return say(found === value, `equals ${JSON.stringify(value)}`);
    case 'ne':
      return say(found !== value, `not equals ${JSON.stringify(value)}`);
    case 'gt':
      return say(numeric > Number(value), `> ${String(value)}`);
    case 'gte':
      return say(numeric >= Number(value), `>= ${String(value)}`);
    case 'lt':
      return say(numeric < Number(value), `< ${String(value)}`);
    case 'lte':
      return say(numeric <= Number(value), `<= ${String(value)}`);
    case 'in':
      return say(list.includes(found), `in [${list.join(', ')}]`);
    case 'not_in':
      return say(!list.includes(found), `not in [${list.join(', ')}]`);
    case 'contains':
      return say(searchable && has(), `contains "${String(value)}"`);
    case 'not_contains':
      return say(searchable && !has(), `not contains "${String(value)}"`);
    case 'starts_with':
      return say(
        typeof found === 'string' && found.startsWith(String(value)),
        `starts with "${String(value)}"`,
      );
    case 'ends_with':
      return say(typeof found === 'string' && found.endsWith(String(value)), `ends with "${String(value)}"`);
    case 'glob':
      return named(
        first((pattern) => minimatch(String(found), pattern)),
        (pattern) => `matches glob "${pattern}"`,
      );
    case 'regex':
      return named(
        first((pattern) => new RegExp(pattern).test(String(found))),
        (pattern) => `matches regex "${pattern}"`,
      );
    case 'cidr':
      return named(
        first((range) => inRange(String(found), range)),
        (range) => `in CIDR ${range}`,
      );
    case 'empty':
      return say(isEmpty(found), 'is empty');
    case 'not_empty':
      return say(!isEmpty(found), 'is not empty');
    default:
      throw new Error(op);
  }
}

export function referenceReason(tree: Tree, signal: unknown): string | null {
  if ('condition' in tree) return referenceReason(tree.condition, signal) === null ? 'NOT(condition)' : null;
  if (!('conditions' in tree)) return leafReason(tree, signal);
  const reasons = tree.conditions.map((inner) => referenceReason(inner, signal));
  if (tree.op === 'or') return reasons.find((reason) => reason !== null) ?? null;
  return reasons.includes(null) ? null : reasons.join(' AND ');
}
