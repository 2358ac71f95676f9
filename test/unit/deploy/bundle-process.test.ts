import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import ts from 'typescript';
import { bundleProcess } from '../../../deploy/bundle-process.mjs';
import { temporaryFolder } from './temporary-folder.js';

const PACKAGES = {
  'esm-package/package.json': '{ "type": "module", "exports": "./index.js" }',
  'esm-package/index.js': 'export const fail = (text) => {\n\n  throw new Error(text);\n};\n',
  'commonjs-package/package.json': '{ "main": "index.js" }',
  'commonjs-package/index.js': "module.exports = { platform: () => require('node:os').platform() };\n",
  'late-package/package.json': '{ "main": "index.js" }',
  'late-package/index.js': 'module.exports = { place: () => __dirname };\n',
};

const SOURCES = {
  'api/main.ts': `
import { platform } from 'commonjs-package';
import { place } from '../schemas/deep/place.js';
const { late } = await import('./late.js');
console.log(JSON.stringify({ platform: platform(), place, late: await late() }));
const { failing } = await import('./failing.js');
failing();`,
  'api/late.ts': "export const late = async () => (await import('late-package')).default.place();\n",
  'api/failing.ts': `
import { fail } from 'esm-package';

export function failing() {
  fail('as asked for');
}`,
  'schemas/deep/place.ts': 'export const place = import.meta.url;\n',
};

let root: string;
function main(): string {
  return join(root, 'dist/api/main.js');
}

/** As the compiler does it: JavaScript with a map in `dist`. */
function compile(name: string, source: string): void {
  const { outputText, sourceMapText } = ts.transpileModule(source, {
    fileName: name,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, sourceMap: true },
  });
  write(`dist/${name.replace(/\.ts$/, '.js')}`, outputText);
  write(
    `dist/${name.replace(/\.ts$/, '.js.map')}`,
    JSON.stringify({ ...(JSON.parse(sourceMapText!) as object), sources: [join(root, name)] }),
  );
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

beforeEach(() => {
  root = realpathSync(temporaryFolder());
  write('package.json', '{ "type": "module" }');
  for (const [name, text] of Object.entries(PACKAGES)) write(`node_modules/${name}`, text);
  for (const [name, text] of Object.entries(SOURCES)) compile(name, text);
});

test('a process runs without the files that its bundle holds, and knows their places', async () => {
  await bundleProcess(main(), []);
  for (const gone of [
    'node_modules/esm-package',
    'node_modules/commonjs-package',
    'dist/schemas',
    'dist/api/late.js',
  ])
    rmSync(join(root, gone), { recursive: true });
  const { stdout } = spawnSync(process.execPath, [main()], { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual({
    platform: process.platform,
    place: `file://${join(root, 'dist/schemas/deep/place.js')}`,
    late: join(root, 'node_modules/late-package'),
  });
});

test('a trace names our sources, and the place in the bundle for a package', async () => {
  await bundleProcess(main(), []);
  const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', main()], { encoding: 'utf8' });
  const frames = stderr.split('\n').filter((line) => line.trim().startsWith('at '));
  expect(frames[0]).toMatch(/\bfail .*dist\/api\/[^:]+\.js:\d+:\d+/);
  expect(frames[1]).toContain(`${join(root, 'api/failing.ts')}:5:`);
  const map = JSON.parse(readFileSync(`${main()}.map`, 'utf8')) as { sources: string[] };
  expect(map.sources.some((source) => source.includes('node_modules'))).toBe(false);
});

test('a package that asks for its place is refused, unless it stays where it is', async () => {
  compile('api/main.ts', "import late from 'late-package';\nconsole.log(late.place());\n");
  await expect(bundleProcess(main(), [])).rejects.toThrow(/index\.js asks for its place/);
  await bundleProcess(main(), ['late-package']);
  const { stdout } = spawnSync(process.execPath, [main()], { encoding: 'utf8' });
  expect(stdout.trim()).toBe(join(root, 'node_modules/late-package'));
});
