import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ParsedChunk } from '../../../../activities/documents/parsing/chunk.js';
import { createChunker } from '../../../../activities/documents/parsing/chunker.js';
import type { Section } from '../../../../activities/documents/parsing/section.js';
import { splitSentences } from '../../../../activities/text/sentences.js';
import { countTokens } from '../../../../activities/text/token-count.js';

function chunk(
  sections: Section[],
  chunkSize = 512,
  overlapRate = 0.2,
  strategy: 'recursive_splitter' | 'structured_section' = 'recursive_splitter',
): ParsedChunk[] {
  const chunker = createChunker({ chunkSize, overlapRate, strategy });
  return [...sections.flatMap((section) => [...chunker.push(section)]), ...chunker.end()];
}

function section(text: string, more: Partial<Section> = {}): Section {
  return {
    headingPath: [],
    page: null,
    kind: 'text',
    text,
    ...more,
  };
}

function visible(text: string): string {
  return text.replace(/\s+/g, '');
}

const prose = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom('sieve', 'Dr.', 'mesh. ', 'été', '文字', 'A', '\n\n', '\n', '?', '👩‍👩‍👧 '),
      },
      { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
      { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 3 }).map((s) => s.repeat(200)) },
      { weight: 1, arbitrary: fc.constant('<|endoftext|>') },
    ),
    { maxLength: 120 },
  )
  .map((words) => words.join(' ').replace(/\p{Surrogate}/gu, ''));
const sections: fc.Arbitrary<Section[]> = fc.array(
  fc.record({
    text: prose,
    // None that prose may begin with, since a chunk's text that opens with its heading is not given it again.
    headingPath: fc.constantFrom<string[][]>([], ['First part'], ['First part', 'B'], ['C part']),
    page: fc.constantFrom(1, 2, 3),
    kind: fc.constantFrom('text' as const, 'table' as const, 'code' as const),
  }),
  { maxLength: 6 },
);

describe('chunker with the strategy structured_section', () => {
  it('keeps the size, and cuts nothing away', () => {
    fc.assert(
      fc.property(sections, fc.integer({ min: 16, max: 200 }), (all, size) => {
        const chunks = chunk(all, size, 0, 'structured_section');
        for (const c of chunks) {
          expect(c.tokens).toBeLessThanOrEqual(size);
          expect(c.tokens).toBe(countTokens(c.text));
        }
        const bodies = chunks.map((c) => {
          const opening = `${c.headingPath.join(' > ')}\n\n`;
          return c.headingPath.length > 0 && c.text.startsWith(opening)
            ? c.text.slice(opening.length)
            : c.text;
        });
        expect(visible(bodies.join(''))).toBe(visible(all.map(({ text }) => text).join('')));
      }),
      { numRuns: 60 },
    );
  });

  it('begins each chunk with the headings it stands under, once', () => {
    const path = ['Contract', 'Liability'];
    const texts = (all: Section[], size = 512) =>
      chunk(all, size, 0, 'structured_section').map(({ text }) => text);
    expect(texts([section('The lessee pays.', { headingPath: path })])).toEqual([
      'Contract > Liability\n\nThe lessee pays.',
    ]);
    expect(texts([section('Annex\n\nNothing.', { headingPath: ['Annex'] })])).toEqual(['Annex\n\nNothing.']);
    expect(texts([section('# Annex\n\nNothing.', { headingPath: ['Annex'] })])).toEqual([
      '# Annex\n\nNothing.',
    ]);
    expect(texts([section('No heading.')])).toEqual(['No heading.']);
    const long = texts([section('One sentence here. '.repeat(60), { headingPath: path })], 64);
    expect(long.length).toBeGreaterThan(3);
    for (const text of long) expect(text).toMatch(/^Contract > Liability\n\nOne/);
    const endless = ['word '.repeat(40).trim()];
    expect(texts([section('Short.', { headingPath: endless })], 64)).toEqual(['Short.']);
  });
});

describe('chunker', () => {
  it('keeps its promises on any text', () => {
    fc.assert(
      fc.property(
        sections,
        fc.integer({ min: 16, max: 200 }),
        fc.double({ min: 0, max: 0.6, noNaN: true }),
        (all, size, rate) => {
          const chunks = chunk(all, size, rate);
          expect(chunks).toEqual(chunk(all, size, rate));
          expect(chunks.map((c) => c.position)).toEqual(chunks.map((_, i) => i));
          for (const c of chunks) {
            expect(c.tokens).toBeLessThanOrEqual(size);
            expect(c.tokens).toBe(countTokens(c.text));
            expect(c.text.trim()).not.toBe('');
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('keeps the size where a word takes more tokens without the space before it', () => {
    const text = '\n\n sieve 👩‍👩‍👧  sieve sieve <|endoftext|> sieve sieve';
    expect(countTokens(text.trim())).toBe(countTokens(text.trimEnd().replace(/^\n+/, '')) + 1);
    const size = countTokens(text.trim()) - 1;
    for (const { tokens } of chunk([section(text)], size, 0)) expect(tokens).toBeLessThanOrEqual(size);
  });

  it('loses nothing, repeats nothing without overlap, and keeps the order', () => {
    fc.assert(
      fc.property(fc.array(prose, { maxLength: 5 }), fc.integer({ min: 16, max: 200 }), (texts, size) => {
        const chunks = chunk(
          texts.map((text) => section(text)),
          size,
          0,
        );
        expect(visible(chunks.map((c) => c.text).join(''))).toBe(visible(texts.join('')));
      }),
      { numRuns: 150 },
    );
  });

  it('loses nothing with overlap either: each chunk starts inside the last or right behind it', () => {
    fc.assert(
      fc.property(prose, fc.integer({ min: 16, max: 100 }), (text, size) => {
        let covered = 0;
        for (const { text: part, charStart } of chunk([section(text, { charStart: 0 })], size, 0.3)) {
          expect(visible(text.slice(charStart))).toMatch(visible(part).slice(0, 1));
          expect(visible(text.slice(charStart)).startsWith(visible(part))).toBe(true);
          const start = visible(text.slice(0, charStart)).length;
          expect(start).toBeLessThanOrEqual(covered);
          covered = start + visible(part).length;
        }
        expect(covered).toBe(visible(text).length);
      }),
      { numRuns: 150 },
    );
  });

  it('repeats whole sentences up to the overlap rate', () => {
    const text = Array.from({ length: 100 }, (_, i) => `Sentence number ${i} is here.`).join(' ');
    const [first, second] = chunk([section(text)], 100, 0.2);
    const shared = first!.text.slice(first!.text.indexOf(second!.text.slice(0, 20)));
    expect(shared).toMatch(/^Sentence number \d+ is here\./);
    expect(second!.text.startsWith(shared)).toBe(true);
    expect(countTokens(shared)).toBeLessThanOrEqual(20);
  });

  it('never spans two pages, and counts sections by headings', () => {
    const chunks = chunk([
      section('# One', { headingPath: ['One'], page: 1, opens: true }),
      section(`The text of the first heading. ${'It goes on. '.repeat(20)}`, {
        headingPath: ['One'],
        page: 1,
      }),
      section('It ends on the next page.', { headingPath: ['One'], page: 2 }),
      section('# One', { headingPath: ['One'], page: 2, opens: true }),
      section(`A second one of that name. ${'It goes on. '.repeat(20)}`, { headingPath: ['One'], page: 2 }),
    ]);
    expect(chunks.map((c) => [c.page, c.sectionId, c.text.slice(0, 12)])).toEqual([
      [1, 0, '# One\n\nThe t'],
      [2, 0, 'It ends on t'],
      [2, 1, '# One\n\nA sec'],
    ]);
  });

  it('joins a heading without text to what stands under it', () => {
    const chunks = chunk([
      section('# Guide', { headingPath: ['Guide'], opens: true }),
      section('## Use', { headingPath: ['Guide', 'Use'], opens: true }),
      section('Shake it.', { headingPath: ['Guide', 'Use'] }),
    ]);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]).toMatchObject({
      text: '# Guide\n\n## Use\n\nShake it.',
      headingPath: ['Guide', 'Use'],
    });
  });

  it('cuts a text without capitals where its clauses end: all chunks are full, and no heading stands alone', () => {
    const clauses = Array.from(
      { length: 60 },
      (_, i) => `the sieve number ${i} of the row is worn at its rim .`,
    );
    const title = { headingPath: ['Sieves'], opens: true };
    const chunks = chunk(
      [section('# Sieves', title), section(clauses.join(' '), { ...title, opens: false })],
      128,
    );
    expect(chunks[0]!.text).toMatch(/^# Sieves\n\nthe sieve number 0 of/);
    for (const { tokens, text } of chunks.slice(0, -1)) {
      expect(tokens).toBeGreaterThan(100);
      expect(text).toMatch(/rim \.$/);
    }
    for (const { text } of chunks.slice(1)) expect(text).toMatch(/^the sieve number/);
    expect(clauses.filter((clause) => !chunks.some(({ text }) => text.includes(clause)))).toEqual([]);
  });

  it('cuts words without any stop at spaces, in parts that fill the chunks', () => {
    const words = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ');
    const chunks = chunk([section('# Words'), section(words)], 256, 0);
    expect(chunks[0]!.text).toMatch(/^# Words\n\nword0 word1 /);
    for (const { tokens } of chunks.slice(0, -1)) expect(tokens).toBeGreaterThan(150);
    expect(chunks.map(({ text }) => text).join(' ')).toBe(`# Words\n\n${words}`);
  });

  it('cuts a table between rows and repeats its header', () => {
    const rows = Array.from({ length: 60 }, (_, i) => `| item ${i} | ${i * 3} |`);
    const chunks = chunk(
      [section(['| Name | Mesh |', '| --- | --- |', ...rows].join('\n'), { kind: 'table' })],
      100,
    );
    expect(chunks.length).toBeGreaterThan(3);
    for (const { text, chunkType } of chunks) {
      expect(chunkType).toBe('table');
      expect(text).toMatch(/^\| Name \| Mesh \|\n\| --- \| --- \|\n\| item/);
    }
    expect(chunks.flatMap((c) => c.text.split('\n').slice(2))).toEqual(rows);
  });

  it('cuts code between lines and closes each fence', () => {
    const lines = Array.from({ length: 80 }, (_, i) => `call(${i}); // number ${i}`);
    const chunks = chunk([section(['```js', ...lines, '```'].join('\n'), { kind: 'code' })], 100);
    expect(chunks.every((c) => c.chunkType === 'code' && /^```js\n[^]*\n```$/.test(c.text))).toBe(true);
    expect(chunks.flatMap((c) => c.text.split('\n').slice(1, -1))).toEqual(lines);
  });

  it.each([
    ['words', 'The quick brown sieve. '.repeat(45_000)],
    ['clauses without capitals', 'the sieve is worn ; it is of brass . '.repeat(27_000)],
    ['one word', 'x'.repeat(1_000_000)],
    ['letters without a space', 'qzjvkxw'.repeat(70_000)],
    ['blanks', `a${' '.repeat(1_000_000)}b`],
    ['line ends', 'a\n'.repeat(300_000)],
    ['empty lines', `a${'\n'.repeat(1_000_000)}b`],
  ])(
    'takes a megabyte of %s in linear time',
    (_, text) => {
      chunk([section(text)]);
      // Not linear would not end within the time limit of the test.
    },
    20_000,
  );
});

describe('sentences', () => {
  it.each([
    ['Dr. Who came. He left at 5 p.m. yesterday! Why?', 3],
    ['See Fig. 3 of J. Smith et al. for it. Then go.', 2],
    ['A line that is\nwrapped by hand. And a second.', 2],
    ['Items:\n- one\n- two', 3],
    ['これは文です。次の文です。', 2],
  ])('cuts %j into %i', (text, count) => {
    const sentences = splitSentences(text);
    expect(sentences.join('')).toBe(text);
    expect(sentences).toHaveLength(count);
  });
});
