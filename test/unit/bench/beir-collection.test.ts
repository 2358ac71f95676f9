import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import {
  beirCollection,
  benchCollections,
  cranfieldByAbstract,
  piafByParagraph,
} from '../../bench/collection.js';

const parent = mkdtempSync(join(tmpdir(), 'beir-'));
afterAll(() => {
  rmSync(parent, { recursive: true });
});

it("reads a collection in BEIR's format", () => {
  const folder = join(parent, 'mills');
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  const jsonl = (...rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(
    join(folder, 'corpus.jsonl'),
    jsonl({ _id: 'd1', title: 'Wheels', text: 'They turn.' }, { _id: 'd2', text: 'No title.' }),
  );
  writeFileSync(
    join(folder, 'queries.jsonl'),
    jsonl({ _id: 'q1', text: 'what turns' }, { _id: 'q2', text: 'not judged' }),
  );
  writeFileSync(
    join(folder, 'qrels', 'test.tsv'),
    'query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t0\n',
  );
  expect(beirCollection(folder)).toEqual({
    name: 'mills',
    documents: [
      { id: 'd1', filename: 'd1.md', content: '# Wheels\n\nThey turn.\n' },
      { id: 'd2', filename: 'd2.md', content: 'No title.' },
    ],
    queries: [{ id: 'q1', text: 'what turns', grades: new Map([['d1', 1]]) }],
  });
});

it('has the relevant documents of every question of the collections of the repository', () => {
  const counted = benchCollections().map(({ name, documents, queries }) => {
    const ids = new Set(documents.map(({ id }) => id));
    const lacking = queries.filter(({ grades }) => [...grades.keys()].some((id) => !ids.has(id)));
    return [name, documents.length, queries.length, lacking.length];
  });
  expect(counted.slice(0, 4)).toEqual([
    // One of the two that are empty is judged.
    ['Cranfield', 1398, 225, 1],
    ['PIAF', 1518, 500, 0],
    ['FAQ-en', 446, 421, 0],
    ['FAQ-fr', 146, 122, 0],
  ]);
});

it.each([
  ['Cranfield', cranfieldByAbstract],
  ['PIAF', piafByParagraph],
])('asks long questions of %s that are not in what is searched', (name, questions) => {
  const { without, queries } = questions();
  const { documents } = benchCollections().find((one) => one.name === name)!;
  const left = new Set(documents.map(({ id }) => id).filter((id) => !without.includes(id)));
  expect(left.size).toBe(documents.length - without.length);
  expect(queries.length).toBeGreaterThan(150);
  for (const { id, text, grades } of queries) {
    expect(without).toContain(id);
    expect(text.length).toBeGreaterThanOrEqual(300);
    expect(grades.size).toBeGreaterThan(0);
  }
  const relevant = queries.flatMap(({ grades }) => [...grades.keys()]);
  expect(relevant.filter((id) => !left.has(id))).toEqual([]);
});
