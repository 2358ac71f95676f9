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
  'docs/evaluation.md',
  'docs/operations.md',
  'docs/performance.md',
  'docs/rules.md',
  'docs/security.md',
  'docs/tracing.md',
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

function headingsOf(text: string): string[] {
  return [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
}

/** As GitHub names the place of a heading. */
function anchorsOf(paper: string): string[] {
  return headingsOf(readFileSync(paper, 'utf8')).map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('sections that the papers name', () => {
  test.each(PAPERS)('%s links to headings that exist', (paper) => {
    const links = [...readFileSync(paper, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const missing = links.filter(
      ([, target = '', anchor = '']) =>
        !anchorsOf(target === '' ? paper : join(dirname(paper), target)).includes(anchor),
    );
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  test("the chart's values name headings of docs/operations.md", () => {
    const values = readFileSync('deploy/kubernetes/values.yaml', 'utf8').replaceAll(/\n\s*# /g, ' ');
    const named = [...values.matchAll(/docs\/operations\.md, ([^.]+)\./g)].map(([, title = '']) => title);
    expect(named.length).toBeGreaterThan(0);
    expect(headingsOf(readFileSync('docs/operations.md', 'utf8'))).toEqual(expect.arrayContaining(named));
  });
});

describe('the tree of ARCHITECTURE.md', () => {
  const architecture = readFileSync('ARCHITECTURE.md', 'utf8');
  const tree = architecture.slice(architecture.indexOf('## The tree'), architecture.indexOf('### Who may'));

  test.each(['api', 'deploy', 'docs', 'test', 'workflows'])('names each folder of %s/', (folder) => {
    const part = new RegExp(`^${folder}/.*\\n(?:^ .*\\n)*`, 'm').exec(tree)?.[0] ?? '';
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `${name}/`).filter((name) => !part.includes(name))).toEqual([]);
  });
});

describe('decisions', () => {
  test('are all in the list, which names no other', () => {
    const listed = linkedIn(readFileSync('docs/decisions/README.md', 'utf8'));
    expect(listed.filter((target) => /^\d{3}-/.test(target)).sort()).toEqual(DECISIONS.sort());
  });
});
