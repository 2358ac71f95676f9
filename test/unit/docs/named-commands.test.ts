import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const papers = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

function scriptsOf(folder: string): Record<string, string> {
  const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { scripts: Record<string, string> }).scripts;
}
const scripts = scriptsOf('.');
const ofWeb = scriptsOf('web');

test('papers name only commands that package.json has', () => {
  const missing = papers.flatMap((paper) =>
    [...readFileSync(join(root, paper), 'utf8').matchAll(/npm run ([a-z][a-z0-9:]*)( -w web)?/g)]
      .filter(([, name = '', inWeb]) => !Object.hasOwn(inWeb === undefined ? scripts : ofWeb, name))
      .map(([command]) => `${paper}: ${command}`),
  );
  expect(missing).toEqual([]);
  expect(papers).toContain('README.md');
});

test('README names every command of package.json', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const unnamed = Object.keys(scripts).filter(
    (name) => !new RegExp(`(?:npm |npm run |\`)${name}(?![\\w:])`).test(readme),
  );
  expect(unnamed).toEqual([]);
});

test('the launcher and package.json have the same commands', () => {
  const text = readFileSync(join(root, 'deploy/local/main.ts'), 'utf8');
  const table = text.slice(text.indexOf('const COMMANDS'), text.indexOf('\n};\n'));
  const known = [...table.matchAll(/^ {2}'?([a-z][a-z0-9:]*)'?: async/gm)].map(([, name]) => name);
  const launched = Object.values(scripts).flatMap(
    (line) => /^node deploy\/local\/run\.mjs (\S+)/.exec(line)?.[1] ?? [],
  );
  // `services` is for those who work on the launcher: `npx tsx deploy/local/main.ts services`.
  expect(known.filter((name) => name !== 'services').sort()).toEqual(launched.sort());
});
