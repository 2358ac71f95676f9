import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compactJson } from '../../../../activities/signals/compact-json.js';
import { readSignals } from '../../../../activities/signals/reading/read-signals.js';
import { scanJsonArray } from '../../../../activities/signals/reading/scan-json-array.js';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const blanks = fc
  .array(fc.constantFrom(' ', '\n', '\r', '\t'), { maxLength: 2 })
  .map((parts) => parts.join(''));

function spaced(text: string, space: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|([[\]{},:])/g, (_, string: string | undefined, mark: string) =>
    string === undefined ? `${space}${mark}${space}` : string,
  );
}

describe('scanning', () => {
  test('finds exactly the items that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 8 }), blanks, (values, space) => {
        const text = spaced(JSON.stringify(values), space);
        const items = scanJsonArray(text);
        if (typeof items === 'string') throw new Error(`${items}: ${text}`);
        expect(items.map(({ start, end }) => JSON.parse(text.slice(start, end)))).toEqual(JSON.parse(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test('agrees with JSON.parse on what is JSON', () => {
    const fragment = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"\\u00e9"',
      '"\\x"',
      '"\\u12"',
      '"',
      '\\',
      '0',
      '01',
      '-',
      '-0',
      '1.5',
      '1.',
      '.5',
      '1e5',
      '1E+',
      'true',
      'false',
      'nul',
      'null',
      ' ',
      '\n',
      '\f',
      '\u00a0',
      '"\t"',
      '+1',
      'NaN',
      '{}',
      '[]',
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 10 }), fc.boolean(), (fragments, wrapped) => {
        const text = wrapped ? `[${fragments.join('')}]` : fragments.join('');
        expect([text, scanJsonArray(text) !== 'not-json']).toEqual([text, isJson(text)]);
      }),
      { numRuns: 20_000 },
    );
  });

  test('agrees with JSON.parse on damaged JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), fc.string({ maxLength: 2 }), (json, at, junk) => {
        const cut = at % (json.length + 1);
        const text = `${json.slice(0, cut)}${junk}${json.slice(cut + 1)}`;
        expect([text, scanJsonArray(text) !== 'not-json']).toEqual([text, isJson(text)]);
      }),
      { numRuns: 5_000 },
    );
  });

  test('counts containers inside an item', () => {
    const depths = scanJsonArray('[1, {}, [[]], {"a":[{"b":1}]}, "[[["]');
    expect(Array.isArray(depths) && depths.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 0]);
  });

  test('two million brackets exhaust nothing', () => {
    const deep = `[${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}]`;
    expect(scanJsonArray(deep)).toEqual([{ start: 1, end: deep.length - 1, depth: 1_000_000 }]);
    expect(scanJsonArray('['.repeat(2_000_000))).toBe('not-json');
  });
});

describe('reading a body', () => {
  const refusal = (text: string) => {
    try {
      readSignals(text);
      return null;
    } catch (error) {
      const { status, message } = error as { status: number; message: string };
      return { status, message };
    }
  };

  test.each([
    ['', 400, "Body cannot be empty when content-type is set to 'application/json'"],
    ['{', 400, "Body is not valid JSON but content-type is set to 'application/json'"],
    ['   ', 400, "Body is not valid JSON but content-type is set to 'application/json'"],
    ['[1,]', 400, "Body is not valid JSON but content-type is set to 'application/json'"],
    ['[{"a":1}', 400, "Body is not valid JSON but content-type is set to 'application/json'"],
    ['{"alerts":[]}', 400, 'Invalid request body: expected array'],
    ['null', 400, 'Invalid request body: expected array'],
    ['"[]"', 400, 'Invalid request body: expected array'],
    [`[${'1,'.repeat(1_000)}1]`, 413, 'Batch too large: maximum 1000 alerts per request'],
  ])('%.20s is refused', (text, status, message) => {
    expect(refusal(text)).toEqual({ status, message });
  });

  test('an empty array, and one of exactly the most items, are taken', () => {
    expect(readSignals('[]').items).toEqual([]);
    expect(readSignals('\uFEFF [ ] ').items).toEqual([]);
    expect(readSignals(`[${'1,'.repeat(999)}1]`).items).toHaveLength(1_000);
  });

  test('raw is the item byte for byte', () => {
    const items = ['{ "n" : 1.0, "big":12345678901234567890123, "n":2 }', '"\\u00e9\\/ é"', '-0', '[ ]'];
    const read = readSignals(`\n[ ${items.join(' ,\t')}\r\n] `).items;
    expect(read.map(({ raw }) => raw)).toEqual(items);
    expect(read[0]?.value).toEqual({ n: 2, big: 12345678901234567890123 });
    expect(read[1]?.bytes).toBe(13);
  });

  test('a key named __proto__ is an own property like any other', () => {
    const [item] = readSignals('[{"__proto__":{"admin":true}}]').items;
    expect(Object.keys(item?.value as object)).toEqual(['__proto__']);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('an item that is too large or too deep has a problem, the others do not', () => {
    const large = `"${'é'.repeat(600_000)}"`;
    const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
    const { items } = readSignals(`[1,${large},${deep},${'['.repeat(64)}${']'.repeat(64)},2]`);
    expect(items.map(({ problem }) => problem?.kind ?? null)).toEqual([
      null,
      'too-large',
      'too-deep',
      null,
      null,
    ]);
    expect(items[1]).toMatchObject({ bytes: 1_200_002, value: undefined });
    expect(items[4]?.value).toBe(2);
  });

  test('ten mebibytes are read in a moment', () => {
    const signal = JSON.stringify({ scenario: 'x', source: {}, message: '\\"'.repeat(5_000) });
    const text = `[${Array(500).fill(signal).join(',')}]`;
    expect(readSignals(text).items).toHaveLength(500);
    // Not linear would not end within the time limit of the test.
  });
});

test('compacting removes blanks between the parts and nothing else', () => {
  expect(compactJson('{ "a b" : [ 1.0 ,\n"\\" x\\\\" , "\\\\\\" " ] }')).toBe(
    '{"a b":[1.0,"\\" x\\\\","\\\\\\" "]}',
  );
  fc.assert(
    fc.property(fc.jsonValue(), blanks, (value, space) => {
      const text = JSON.stringify(value);
      expect(compactJson(spaced(text, space))).toBe(text);
    }),
  );
});
