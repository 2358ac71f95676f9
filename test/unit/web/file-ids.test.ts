import { expect, test } from '@jest/globals';
import { IDENTIFIER_PATTERN } from '../../../schemas/ids.js';
import { loadWeb } from '../../support/load-web.js';

const { fileIdOf } = await loadWeb<{ fileIdOf(file: { name: string; path?: string }): string }>(
  'pages/documents/uploads/upload',
);

function idOf(name: string, path?: string): string {
  return fileIdOf({ name, ...(path !== undefined && { path }) });
}

test('a file keeps its name as its id, and its place in a dropped folder', () => {
  expect(idOf('visitor-guide.md')).toBe('visitor-guide.md');
  expect(idOf('may.md', './logbooks/1901/may.md')).toBe('logbooks:1901:may.md');
  expect(idOf('Résumé (2).pdf')).toBe('Resume__2_.pdf');
});

test('names in other scripts have ids of their own, which stay the same', () => {
  const names = ['отчёт.pdf', 'тесты.pdf', '报告.pdf', '試験.pdf', 'straße.pdf', 'straøe.pdf', 'отчёт'];
  const ids = names.map((name) => idOf(name));
  expect(new Set(ids).size).toBe(names.length);
  for (const id of ids) expect(id).toMatch(IDENTIFIER_PATTERN);
  expect(ids[0]).toMatch(/^_{5}-[0-9a-z]{10}\.pdf$/);
  expect(ids.at(-1)).toMatch(/^_{5}-[0-9a-z]{10}$/);
  // Some systems write a letter and its mark apart.
  expect(idOf('отчёт.pdf'.normalize('NFD'))).toBe(ids[0]);
  expect(idOf('отчёт.pdf')).toBe(ids[0]);
  // Of the whole way, not of the name alone.
  expect(idOf('a.md', './год/a.md')).not.toBe(idOf('a.md', './том/a.md'));
});

test.each([256, 300, 4_000])(
  'a place of %d characters in a dropped folder has an id that is short enough',
  (length) => {
    const idAt = (folder: string, name = 'plan.pdf') =>
      idOf(name, `${folder}${'x/'.repeat(length)}`.slice(0, length - 9) + `/${name}`);
    const ids = [
      idAt('a/'),
      idAt('b/'),
      idAt('année/'),
      idAt('отчёт/'),
      idAt('a/', 'отчёт.pdf'),
      idAt('a/', 'тесты.pdf'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(IDENTIFIER_PATTERN);
    expect(ids[0]).toMatch(/^[0-9a-z]{10}-.*:plan\.pdf$/);
    expect(ids[4]).toMatch(/:_{5}-[0-9a-z]{10}\.pdf$/);
    expect(idAt('a/')).toBe(ids[0]);
  },
);

test('an id of as many characters as the server takes is not shortened', () => {
  const name = `${'n'.repeat(251)}.pdf`;
  expect(idOf(name)).toBe(name);
});
