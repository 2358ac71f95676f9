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

export function prettyJson(rawJson: string): string {
  const parsed = parse(rawJson);
  return parsed === null ? rawJson : JSON.stringify(parsed, null, 2);
}
