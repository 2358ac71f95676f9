/**
 * Gateway and worker with their packages in one file, in the place of the compiled `main.js`: Node takes two seconds of
 * a processor to find, read and link the two thousand files of them, and holds the text of each with its comments. What
 * is loaded when it is needed stays a file of its own, as do the programs that are started from here (parsers, the
 * command line, threads of models).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';
import ts from 'typescript';

/** CommonJS packages call `require` for modules of Node, and for what only some of their users have. */
const COMMON_JS = [
  "import { createRequire as tamisRequire } from 'node:module';",
  'const require = tamisRequire(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;',
].join('\n');

const PACKAGES = `${sep}node_modules${sep}`;

/**
 * Packages that use their place for nothing that is asked of them here: undici and ioredis to shorten traces of their
 * own, grpc-js for the descriptions of two services that it could offer.
 */
const PLACELESS = ['undici', 'ioredis', '@grpc/grpc-js'].map((name) => `${PACKAGES}${name}${sep}`);
const ASKS_FOR_PLACE = /\b__dirname\b|\b__filename\b|\bimport\.meta\b/;

/**
 * @param {string} main the compiled file, which the bundle replaces; what it loads later comes to stand beside it
 * @param {string[]} external packages that stay in node_modules
 */
export async function bundleProcess(main, external) {
  const { outputFiles } = await build({
    entryPoints: [main],
    outdir: dirname(main),
    chunkNames: 'bundled-[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external,
    banner: { js: COMMON_JS },
    plugins: [packagesLoadedLate, places(dirname(main))],
    logLevel: 'warning',
    write: false,
  });
  for (const { path, text } of outputFiles)
    await writeFile(path, path.endsWith('.map') ? mapOfOurs(text) : requireAscii(path, text));
}

/**
 * What ASCII does not have. V8 keeps the text of a file for as long as its functions live, with two bytes for each
 * character where one of them needs it: 13 MB more in a gateway and a worker.
 */
const BEYOND_ASCII = /[\u0080-\uffff]/;

function requireAscii(path, text) {
  const [found] = BEYOND_ASCII.exec(text) ?? [];
  if (found !== undefined) throw new Error(`${path} is not all ASCII: it holds ${found}`);
  return text;
}

/** Code with its regular expressions in escapes: esbuild writes these as they stand, and strings in escapes itself. */
function escapeExpressions(path, contents) {
  if (!BEYOND_ASCII.test(contents)) return contents;
  const file = ts.createSourceFile(path, contents, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  let [written, at] = ['', 0];
  const visit = (node) => {
    if (!ts.isRegularExpressionLiteral(node)) return ts.forEachChild(node, visit);
    written +=
      contents.slice(at, node.getStart(file)) + node.text.replace(new RegExp(BEYOND_ASCII, 'g'), escaped);
    at = node.end;
    return undefined;
  };
  visit(file);
  return written + contents.slice(at);
}

function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A package that is imported when it is needed is left where it is: some find files of theirs by it. */
const packagesLoadedLate = {
  name: 'packages loaded late',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** Our files keep their place (`import.meta.url`) in a file that stands elsewhere; a package that asks for its own cannot. */
const places = (folder) => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (!path.includes(PACKAGES)) {
        const place = JSON.stringify(relative(folder, path).split(sep).join('/'));
        return {
          contents: escapeExpressions(path, contents).replaceAll(
            'import.meta.url',
            `new URL(${place}, import.meta.url).href`,
          ),
        };
      }
      if (ASKS_FOR_PLACE.test(contents) && !PLACELESS.some((placeless) => path.includes(placeless)))
        return { errors: [{ text: `${basename(path)} asks for its place: its package has to be external` }] };
      return { contents };
    });
  },
});

/**
 * The map without the lines of packages, nine tenths of it: Node reads it whole at the start and keeps it. Their places
 * in a trace are those in the bundle.
 */
function mapOfOurs(text) {
  const map = JSON.parse(text);
  const sources = map.sources.filter((source) => !source.includes('node_modules/'));
  const numbers = map.sources.map((source) => sources.indexOf(source));
  let inOurs = false;
  const mappings = decode(map.mappings).map((line) =>
    line.flatMap(([column, source, ...place]) => {
      const before = inOurs;
      inOurs = source !== undefined && numbers[source] !== -1;
      if (inOurs) return [[column, numbers[source], place[0], place[1]]];
      return before ? [[column]] : [];
    }),
  );
  return JSON.stringify({ version: map.version, sources, names: [], mappings: encode(mappings) });
}
