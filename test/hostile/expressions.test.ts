import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { readByteRange } from '../../api/http/byte-range.js';
import { createSupportFinder } from '../../activities/retrieval/chat/find-support.js';
import { MARK_EXPRESSIONS } from '../../activities/models/builtin/source-blocks.js';
import { findAttack } from './support/attack-expression.js';

const ROOTS = ['activities', 'api', 'schemas'];
/** Put together at run time, each of parts with bounded repeats; a new one has to be looked at by a person. */
const BUILT_AT_RUN_TIME: Readonly<Record<string, number>> = {
  'activities/models/builtin/holds-answer.ts': 1,
  'activities/models/builtin/source-blocks.ts': 3,
  'activities/documents/parsing/formats/msg-parser.ts': 1,
  'activities/documents/parsing/formats/open-document.ts': 1,
  'activities/documents/parsing/html-parser.ts': 1,
  'activities/documents/parsing/html-tags.ts': 1,
  'activities/documents/parsing/kerned-words.ts': 1,
  'activities/documents/parsing/pdf-repair.ts': 1,
  'activities/documents/parsing/pictures/place-pictures.ts': 2,
  'activities/documents/parsing/shorten-data-uris.ts': 4,
  'activities/documents/parsing/word-attributes.ts': 1,
  'activities/documents/parsing/word-package.ts': 1,
  'activities/models/servers/wordpiece-text.ts': 1,
};

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

function readExpressions(): { literals: Map<string, string>; built: Record<string, number> } {
  const literals = new Map<string, string>();
  const built: Record<string, number> = {};
  for (const path of ROOTS.flatMap(sourcesIn)) {
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) literals.set(node.text, path);
      if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp')
        built[path] = (built[path] ?? 0) + 1;
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true));
  }
  return { literals, built };
}

function compile(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

test('the search for attacks finds what is quadratic, cubic and exponential, and spares what is linear', () => {
  expect(findAttack(/\s+$/)).not.toBeNull();
  expect(findAttack(/\[\s*sources?\s*:?\s*([\d\s,]{1,200})\]/giu)).not.toBeNull();
  expect(findAttack(/^(?:a+)+b/)).not.toBeNull();
  expect(findAttack(/^bytes\s*=\s*(\d*)\s*-$/i)).not.toBeNull();
  expect(findAttack(/(?<!\s)\s+$/)).toBeNull();
  expect(findAttack(/\[source ([\d\s,]+)\]/giu)).toBeNull();
});

test(
  'every expression that repeats without a bound takes linear time',
  () => {
    const { literals } = readExpressions();
    const repeating = [...literals].filter(([literal]) => /[*+]|\{\d+,\}/.test(literal));
    expect(repeating.length).toBeGreaterThan(100);
    const slow = repeating.flatMap(([literal, path]) => {
      const attack = findAttack(compile(literal));
      return attack === null ? [] : [{ path, literal, attack }];
    });
    expect(slow).toEqual([]);
  },
  15 * 60_000,
);

test('so do those that find marks in documents', () => {
  for (const expression of MARK_EXPRESSIONS) expect(findAttack(expression)).toBeNull();
});

test('expressions that are put together at run time are those that were looked at', () => {
  expect(readExpressions().built).toEqual(BUILT_AT_RUN_TIME);
});

test('an answer of blanks behind an open citation is read at once', () => {
  const before = process.cpuUsage().user;
  for (const opening of ['[sources', 'Words of a claim. [source 1', '[sources:'])
    createSupportFinder(`${opening}${' '.repeat(39_000)}`)('an extract', 1);
  expect((process.cpuUsage().user - before) / 1000).toBeLessThan(2_000);
});

test('a range of blanks that fills a header is read at once', () => {
  const before = process.cpuUsage().user;
  for (const [first, last] of [
    [0, 14_000],
    [100, 1_000],
    [5_000, 10_000],
  ] as const)
    expect(readByteRange(`bytes=${' '.repeat(first)}-${' '.repeat(last)}x`, 9)).toBeNull();
  expect((process.cpuUsage().user - before) / 1000).toBeLessThan(100);
  expect(readByteRange(' Bytes = 2 - 4 ', 9)).toEqual({ start: 2, end: 5 });
  expect(readByteRange('bytes=1 2-4', 99)).toBeNull();
});
