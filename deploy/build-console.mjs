/**
 * Builds the console in `web/` and puts its files into a folder, beside each the same compressed, so that the gateway
 * does that for no request: `build-console.mjs <folder>`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('build-console.mjs <folder>');
const out = resolve(folder);

/** Pictures and fonts are compressed already. */
const TEXTS = new Set(['.html', '.js', '.css', '.json', '.svg', '.webmanifest', '.txt', '.wasm']);
/** Below this a request costs more than the bytes. */
const MIN_BYTES = 1024;

console.log('building the console');
// The npm that runs us, where one does.
const npm = process.env['npm_execpath'];
const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
const { status } = spawnSync(command, [...first, 'run', 'build', '-w', 'web'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
rmSync(out, { recursive: true, force: true });
cpSync(join(root, 'web/dist'), out, { recursive: true });
for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) pack(join(out, name));
console.log(`built ${out}`);

function pack(file) {
  if (!TEXTS.has(extname(file)) || !statSync(file).isFile()) return;
  const bytes = readFileSync(file);
  if (bytes.length < MIN_BYTES) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
}
