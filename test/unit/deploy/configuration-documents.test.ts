import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { CONFIGURATION_DOCUMENTS, withBlock } from '../../../deploy/local/configuration-documents.js';
import { KNOWN_VARIABLES, unreadVariableNotes } from '../../../schemas/config/environment.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const documents = CONFIGURATION_DOCUMENTS.map((document) => ({
  ...document,
  text: readFileSync(join(root, document.file), 'utf8'),
}));

test.each(documents)('$file says what `npm run write:config` writes', (document) => {
  expect(withBlock(document, document.text)).toBe(document.text);
});

test.each(documents)('$file gets its block whatever stood there, and nothing else changes', (document) => {
  const { text, begin, end } = document;
  const [head = '', rest = ''] = text.split(begin);
  const [, tail = ''] = rest.split(end);
  expect(withBlock(document, `${head}${begin}\nsomething old\n${end}${tail}`)).toBe(text);
  expect(() => withBlock(document, text.replace(end, ''))).toThrow(document.file);
});

test("README's tables have each variable once", () => {
  const [readme] = documents;
  const rows = [...(readme?.text ?? '').matchAll(/^\| `([A-Z][A-Z0-9_]*)` \|(.*)\|$/gm)];
  const named = rows.map(([, name = '']) => name).filter((name) => KNOWN_VARIABLES.includes(name));
  expect(named.sort()).toEqual([...KNOWN_VARIABLES].sort());
  // A bar in a meaning would make a column of it.
  for (const [, name, cells = ''] of rows.filter(([, known = '']) => KNOWN_VARIABLES.includes(known)))
    expect([name, cells.split('|')]).toEqual([name, [expect.any(String), expect.any(String)]]);
});

test('README lists the variables of openrag that mean nothing here, each of which is told of where it is set', () => {
  const [, after = ''] = (documents[0]?.text ?? '').split(
    '### Variables of openrag that have no meaning here',
  );
  const [table = ''] = after.split('\n## ');
  const named = [...table.matchAll(/`([A-Z][A-Z0-9_]*)`(?=[^|]*\|.*\|$)/gm)].map(([, name = '']) => name);
  const unread = named.filter((name) => !KNOWN_VARIABLES.includes(name));
  const notes = unreadVariableNotes(Object.fromEntries(unread.map((name) => [name, 'x'])));
  expect(notes.map((note) => note.split(' ')[0])).toEqual(unread);
  expect(unread.length).toBeGreaterThan(8);
});
