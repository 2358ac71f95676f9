export interface Decision {
  type: string;
  value: string;
  duration: string;
  origin: string;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
}

function parse(json: string | null): unknown {
  try {
    return JSON.parse(json ?? 'null') as unknown;
  } catch {
    return null;
  }
}

/** The decisions in a stored item, which holds whatever the sender wrote. */
export function decisionsOf(rawJson: string | null): Decision[] {
  const { decisions } = (parse(rawJson) ?? {}) as { decisions?: unknown };
  if (!Array.isArray(decisions)) return [];
  return (decisions as (Record<string, unknown> | null)[]).map((decision) => ({
    type: text(decision?.['type']),
    value: text(decision?.['value']),
    duration: text(decision?.['duration']),
    origin: text(decision?.['origin']),
  }));
}

/** The API gives the reasons as a JSON list in a text. */
export function reasonsOf(filterReasons: string | null): string[] {
  const reasons = parse(filterReasons);
  return Array.isArray(reasons) ? reasons.map(text) : [];
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const EXACT_DIGITS = 15;

/** Whether a number in it would be shown as another one once it is parsed, as large ids would. */
function hasInexactNumber(json: string): boolean {
  return [...json.matchAll(TEXT_OR_NUMBER)].some(
    ([token]) =>
      !token.startsWith('"') &&
      token.replaceAll(/\D/g, '').length > EXACT_DIGITS &&
      String(Number(token)) !== token,
  );
}

/** Indented, where that leaves every number as it was sent. */
export function prettyJson(rawJson: string): string {
  const parsed = parse(rawJson);
  return parsed === null || hasInexactNumber(rawJson) ? rawJson : JSON.stringify(parsed, null, 2);
}
