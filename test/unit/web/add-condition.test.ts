import { expect, test } from '@jest/globals';
import { toVersionEntries } from '../../../activities/documents/metadata-entries.js';
import { matchesFilter } from '../../../activities/retrieval/filter/matches-filter.js';
import { parseFilter } from '../../../activities/retrieval/filter/parse-filter.js';
import type { Metadata } from '../../../schemas/documents/documents.js';
import { loadWeb } from '../../support/load-web.js';

interface Condition {
  name: string;
  sign: string;
  value: string;
}
const { addCondition } = await loadWeb<{ addCondition(filter: string, condition: Condition): string }>(
  'pages/documents/search/add-condition',
);

/** Whether the form finds a file by a condition. */
function finds(condition: [name: string, sign: string, value: string], metadata: Metadata, file = 'a file') {
  const [name, sign, value] = condition;
  const version = {
    metadata,
    original_filename: '2024',
    size_bytes: 7,
    content_sha256: '12',
    indexed_at: new Date('2026-11-30T10:00:00Z'),
  };
  const subject = {
    chunk_id: '12',
    file_id: file,
    filename: file,
    relationship_id: null,
    parent_id: null,
    page: 3,
    metadata: toVersionEntries(version),
  };
  return matchesFilter(subject, parseFilter(addCondition('', { name, sign, value })));
}

test.each<[value: string, stored: number | boolean]>([
  ['2024', 2024],
  ['-1.5', -1.5],
  ['0', 0],
  ['true', true],
  ['false', false],
])('a condition on %s finds it as a text and as what it looks like', (value, stored) => {
  for (const found of [stored, value]) {
    expect([found, finds(['key', '==', value], { key: found })]).toEqual([found, true]);
    expect([found, finds(['key', '!=', value], { key: found })]).toEqual([found, false]);
  }
  for (const other of [7, 'another', !stored]) {
    expect([other, finds(['key', '==', value], { key: other })]).toEqual([other, false]);
    expect([other, finds(['key', '!=', value], { key: other })]).toEqual([other, true]);
  }
  expect(finds(['key', '!=', value], {})).toBe(false);
});

test('a number with a 0 before it is a text alone', () => {
  expect(finds(['postcode', '==', '01069'], { postcode: '01069' })).toBe(true);
  expect(finds(['postcode', '==', '01069'], { postcode: 1069 })).toBe(false);
});

test.each(['_id', 'content_sha256'])('digits are a text in %s', (name) => {
  expect(finds([name, '==', '12'], {})).toBe(true);
  expect(finds([name, '!=', '12'], {})).toBe(false);
  expect(addCondition('', { name, sign: '==', value: '12' })).toBe(`${name} == "12"`);
});

test('so they are in the id and the names of a file, days too', () => {
  for (const name of ['file_id', 'filename', 'source'])
    for (const value of ['4711', '2026-11-30']) {
      expect([name, finds([name, '==', value], {}, value)]).toEqual([name, true]);
      expect([name, finds([name, '!=', value], {}, value)]).toEqual([name, false]);
    }
  expect(finds(['original_filename', '==', '2024'], {})).toBe(true);
});

test('numbers of the server, days and orders are compared as what they are', () => {
  expect(finds(['page', '==', '3'], {})).toBe(true);
  expect(finds(['page', '!=', '3'], {})).toBe(false);
  expect(finds(['year', '<', '2024'], { year: 999 })).toBe(true);
  expect(finds(['day', '==', '2026-11-30'], { day: '2026-11-30' })).toBe(true);
  expect(finds(['year', 'like', '20'], { year: '2024' })).toBe(true);
});

test('a condition holds beside the filter that is there', () => {
  const year = { name: 'year', sign: '!=', value: '2024' };
  expect(addCondition('a == 1', year)).toBe('a == 1 and year not in [2024, "2024"]');
  expect(addCondition('a == 1 or b == 2', year)).toBe('(a == 1 or b == 2) and year not in [2024, "2024"]');
});
