import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { keptConsole } from '../../../deploy/local/kept-console.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

/** Stands for the bundler: writes two files, and counts. */
const MAKE = `
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('../builds', 'x');
mkdirSync('dist/assets', { recursive: true });
cpSync('index.html', 'dist/index.html');
writeFileSync('dist/assets/main-1.js', 'console.log(1);'.repeat(200));
writeFileSync('dist/assets/photo-1.png', Buffer.alloc(4000));
writeFileSync('src/schema.gen.ts', 'made');`;
const FILES: Record<string, string> = {
  'package.json': '{"name":"clone","private":true,"workspaces":["web"]}',
  'package-lock.json': '{}',
  'web/package.json': '{"name":"console","private":true,"scripts":{"build":"node make.mjs"}}',
  'web/make.mjs': MAKE,
  'web/index.html': '<!doctype html>',
  'web/src/main.ts': 'first',
};

describe('the console that the launcher keeps', () => {
  let root: string;
  let bench: ReturnType<typeof testBench>;
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const builds = () => readFileSync(join(root, 'builds'), 'utf8').length;

  beforeEach(() => {
    root = temporaryFolder();
    bench = testBench(root);
    for (const [file, text] of Object.entries(FILES)) put(file, text);
    mkdirSync(join(root, 'deploy'));
    copyFileSync('deploy/build-console.mjs', join(root, 'deploy/build-console.mjs'));
  });

  test('is built once, with each text compressed beside it', async () => {
    const folder = (await keptConsole(bench))!;
    expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()).toEqual([
      'assets',
      'assets/main-1.js',
      'assets/main-1.js.br',
      'assets/main-1.js.gz',
      'assets/photo-1.png',
      'index.html',
    ]);
    const script = readFileSync(join(folder, 'assets/main-1.js'));
    expect(brotliDecompressSync(readFileSync(join(folder, 'assets/main-1.js.br')))).toEqual(script);
    expect(gunzipSync(readFileSync(join(folder, 'assets/main-1.js.gz')))).toEqual(script);
    // What the build made among the sources is none.
    expect([await keptConsole(bench), await keptConsole(bench)]).toEqual([folder, folder]);
    expect(builds()).toBe(1);
  }, 30_000);

  test.each(['web/src/main.ts', 'web/index.html', 'web/public/icon.svg', 'package-lock.json'])(
    'is built anew when %s changes, and the old one goes',
    async (file) => {
      const first = (await keptConsole(bench))!;
      put(file, '{"other":1}');
      const second = (await keptConsole(bench))!;
      expect(second).not.toBe(first);
      expect(readdirSync(dirname(second)).map((name) => join(dirname(second), name))).toEqual([second]);
      expect(builds()).toBe(2);
    },
    30_000,
  );

  test('is none where the clone has none', async () => {
    rmSync(join(root, 'web'), { recursive: true });
    expect(await keptConsole(bench)).toBeNull();
  });

  test('a build that fails is told with its last words and leaves nothing', async () => {
    put('web/make.mjs', "console.error('types do not fit'); process.exit(2);");
    await expect(keptConsole(bench)).rejects.toThrow('console: the build failed');
    expect(readFileSync(join(root, '.local/log/build-console.log'), 'utf8')).toContain('types do not fit');
    expect(readdirSync(join(root, '.local/console'))).toEqual([]);
  }, 30_000);
});
