import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

/** The papers name files so that a reader finds the code; a renamed file must be renamed there too. */
const FOLDERS = ['activities', 'api', 'deploy', 'docs', 'schemas', 'test', 'workers', 'workflows'];
const DECISIONS = readdirSync('docs/decisions').filter((name) => /^\d{3}-/.test(name));
const PAPERS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'docs/operations.md',
  'docs/performance.md',
  'docs/decisions/README.md',
  ...DECISIONS.map((name) => `docs/decisions/${name}`),
];

const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
);

/** Files of a running installation or of another program. */
const NOT_OURS = new Set(['.local/endpoints.json', '/openapi.json', 'online_api_credentials.yaml']);

function isThere(named: string): boolean {
  return NOT_OURS.has(named) || existsSync(named) || FILES.some((file) => file.endsWith(`/${named}`));
}

function namedIn(text: string): string[] {
  return [
    ...[...text.matchAll(/`([\w./-]+\.(?:ts|mjs|cjs|yml|yaml|json|md))`/g)].map(([, name]) => name ?? ''),
    ...[...text.matchAll(new RegExp(`\`((?:${FOLDERS.join('|')})/[\\w./-]*/)\``, 'g'))].map(
      ([, name]) => name ?? '',
    ),
  ];
}

function linkedIn(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target]) => target ?? '');
}

describe('files that the papers name', () => {
  test.each(PAPERS)('%s names files that exist', (paper) => {
    const text = readFileSync(paper, 'utf8');
    expect(namedIn(text).filter((name) => !isThere(name))).toEqual([]);
    expect(linkedIn(text).filter((target) => !existsSync(join(dirname(paper), target)))).toEqual([]);
  });

  test('a file that is missing is noticed, by its path and by its name alone', () => {
    const text =
      'See `api/documents/missing.ts`, `no-such-file.ts` and `api/no-such-folder/`, not `api/app.ts`.';
    expect(namedIn(text).filter((name) => !isThere(name))).toEqual([
      'api/documents/missing.ts',
      'no-such-file.ts',
      'api/no-such-folder/',
    ]);
  });
});

describe('decisions', () => {
  test('are all in the list, which names no other', () => {
    const listed = linkedIn(readFileSync('docs/decisions/README.md', 'utf8'));
    expect(listed.filter((target) => /^\d{3}-/.test(target)).sort()).toEqual(DECISIONS.sort());
  });
});
