import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { keptBuild } from '../../../deploy/local/kept-build.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'schemas/a.ts',
  'workflows/a.ts',
  'activities/deep/a.ts',
  'workers/main.ts',
  'api/main.ts',
  'deploy/bundle-process.mjs',
  'deploy/cli/a.ts',
  'deploy/filters.d/10-rule.yaml',
  'deploy/stand-in-capi/main.ts',
];

/** Stands for the compiler: copies a source, and counts. */
const BUILD = `
import { appendFileSync, cpSync } from 'node:fs';
const [folder] = process.argv.slice(2);
appendFileSync('builds', 'x');
cpSync('api', folder + '/api', { recursive: true });`;

describe('the build that the launcher keeps', () => {
  let root: string;
  let bench: ReturnType<typeof testBench>;
  const builds = () => readFileSync(join(root, 'builds'), 'utf8').length;

  beforeEach(() => {
    root = temporaryFolder();
    bench = testBench(root);
    for (const file of [...FILES, 'deploy/build.mjs']) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), file === 'deploy/build.mjs' ? BUILD : 'first');
    }
  });

  test('is made once, and serves every start after it', async () => {
    const first = await keptBuild(bench);
    expect(readFileSync(join(first, 'api/main.ts'), 'utf8')).toBe('first');
    expect([await keptBuild(bench), await keptBuild(bench)]).toEqual([first, first]);
    expect(builds()).toBe(1);
  });

  test.each([...FILES, 'deploy/build.mjs'])(
    'is made anew when %s changes, and the old one goes',
    async (file) => {
      const first = await keptBuild(bench);
      writeFileSync(join(root, file), file === 'deploy/build.mjs' ? `${BUILD}\n` : 'other');
      const second = await keptBuild(bench);
      expect(second).not.toBe(first);
      expect(readdirSync(dirname(second)).map((name) => join(dirname(second), name))).toEqual([second]);
      expect(builds()).toBe(2);
    },
  );

  test('is made anew when a file comes, goes or is renamed', async () => {
    const seen = [await keptBuild(bench)];
    cpSync(join(root, 'schemas/a.ts'), join(root, 'schemas/b.ts'));
    seen.push(await keptBuild(bench));
    renameSync(join(root, 'schemas/b.ts'), join(root, 'schemas/c.ts'));
    seen.push(await keptBuild(bench));
    expect(new Set(seen).size).toBe(3);
  });

  test('a build that fails is told with its last words and leaves nothing', async () => {
    writeFileSync(join(root, 'deploy/build.mjs'), "console.error('cannot bundle'); process.exit(2);");
    await expect(keptBuild(bench)).rejects.toThrow('build: the build failed (exit code 2)');
    expect(readdirSync(join(root, '.local/build'))).toEqual([]);
    expect(existsSync(join(root, 'builds'))).toBe(false);
  });
});
