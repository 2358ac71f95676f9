import { runInNewContext } from 'node:vm';

/** Sizes of the attacks: each is two to ten times the one before, so that what explodes is found while it is small. */
const SIZES = [24, 200, 1_000, 10_000];
/** CPU time at which a size is held to be too slow at all; a linear expression takes a tenth of it. */
const FLOOR_MS = 15;
const GROWTH = 15;
const TIMEOUT_MS = 4_000;
/**
 * CPU time per character below which a size of a thousand and more is linear: at one step of a nanosecond each, half of
 * the square of a thousand takes five times as long. The next size, ten times as large, takes most of the search.
 */
const LINEAR_MS = 0.0001;
const LARGE = 1_000;

export interface Attack {
  prefix: string;
  pump: string;
  suffix: string;
  size: number;
  ms: number;
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Characters of each class that expressions make a difference between, and those that the pattern itself names. */
function alphabet(source: string): string[] {
  const named = source
    .replace(/\\u\{[0-9A-Fa-f]+\}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\p\{[^}]*\}|\\[a-zA-Z]/g, '')
    .match(/[^\\()|?+*{}^$]/gu);
  return [...new Set([' ', '\n', 'a', '1', ...(/\p\{L/.test(source) ? ['é'] : []), ...(named ?? [])])]
    .filter((sign) => !/[b-zA-Z2-9]/.test(sign))
    .slice(0, 14);
}

/** Words of the pattern, such as `source` in `/\[sources?:/`: what an attack must begin with to get anywhere. */
function words(source: string): string[] {
  return [
    ...new Set(
      source
        .replace(/\\[pPuUxX](?:\{[^}]*\}|[0-9A-Fa-f]{2,4})/g, ' ')
        .replace(/\\[a-zA-Z]/g, ' ')
        .match(/[A-Za-z][A-Za-z:]+/g) ?? [],
    ),
  ];
}

function useOf(expression: RegExp): string {
  return expression.flags.includes('g') ? 'void text.replace(expression, "")' : 'void expression.exec(text)';
}

/** CPU time of one use on a text; infinite when it was broken off. */
function timeOf(expression: RegExp, text: string): number {
  const fresh = new RegExp(expression.source, expression.flags);
  try {
    return cpuMs(
      () => void runInNewContext(useOf(expression), { expression: fresh, text }, { timeout: TIMEOUT_MS }),
    );
  } catch {
    return Infinity;
  }
}

/** The least of several times, so that a busy machine does not count. */
function leastTime(expression: RegExp, text: string): number {
  return Math.min(...[1, 2, 3].map(() => timeOf(expression, text)));
}

function quick(expression: RegExp, text: string): number {
  const fresh = new RegExp(expression.source, expression.flags);
  return cpuMs(() => {
    if (fresh.global) text.replace(fresh, '');
    else fresh.exec(text);
  });
}

/**
 * Looks for a text on which the expression takes more than linear time. Null when none was found among some thousands
 * that are made of its own words and of characters of each kind.
 */
export function findAttack(expression: RegExp): Attack | null {
  const signs = alphabet(expression.source);
  const whole = words(expression.source);
  const pumps = [
    ...signs,
    ...signs.flatMap((one) => signs.map((two) => (one === two ? '' : one + two))),
  ].filter((pump) => pump !== '');
  const openers = signs.filter((sign) => /[^\w\s]/.test(sign));
  const prefixes = [
    '',
    ...signs,
    ...whole,
    ...openers.flatMap((opener) => whole.flatMap((word) => [opener + word, word + opener])),
  ];
  const wide = [...pumps, ...prefixes.flatMap((prefix) => [prefix, `${prefix} `, `${prefix}a`])].filter(
    Boolean,
  );
  // What is bound to a place is reached with the right beginning alone; the others begin anywhere in the pump.
  const bound = expression.source.startsWith('^') || expression.sticky;
  const beginnings = bound
    ? [...new Set([...prefixes, ...pumps.filter((pump) => pump.length === 2)])]
    : prefixes;
  for (const [prefixList, pumpList] of [
    [[''], wide],
    [beginnings, signs],
  ] as const)
    for (const prefix of prefixList)
      for (const pump of pumpList)
        for (const suffix of ['\u0001', 'a', '\n\u0001', '']) {
          const found = grow(expression, prefix, pump, suffix);
          if (found !== null) return found;
        }
  return null;
}

function grow(expression: RegExp, prefix: string, pump: string, suffix: string): Attack | null {
  let before = { ms: 0, text: '' };
  const isSlow = (ms: number): boolean => ms > Math.max(FLOOR_MS, GROWTH * before.ms);
  for (const size of SIZES) {
    // A long pump is repeated as often as a sign, so that each of its beginnings counts.
    const times = pump.length > 2 ? size : Math.ceil(size / pump.length);
    const text = prefix + pump.repeat(times) + suffix;
    let ms = (before.ms > 2 ? timeOf : quick)(expression, text);
    if (isSlow(ms)) {
      // Both anew and in the same way: a first run compiles, and one that follows another finds that done.
      before.ms = leastTime(expression, before.text);
      ms = leastTime(expression, text);
    }
    if (isSlow(ms)) return { prefix, pump, suffix, size, ms };
    if (size >= LARGE && ms < LINEAR_MS * text.length) return null;
    before = { ms, text };
  }
  return null;
}
