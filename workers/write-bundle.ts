import { writeFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { bundleWorkflows } from './workflow-bundle.js';

/**
 * The same code without comments and blanks, in ASCII alone, and its source map without the sources, of which stack
 * traces need the places only. Each thread that runs workflows keeps both, and the process once more for each of its
 * workers; one character beyond Latin-1 would have V8 keep two bytes for each. Names stay: failures carry those
 * of their classes.
 */
async function slim(code: string): Promise<string> {
  const written = await transform(code, {
    minifyWhitespace: true,
    legalComments: 'none',
    charset: 'ascii',
    sourcemap: 'inline',
    sourcesContent: false,
  });
  return written.code;
}

/** `write-bundle.ts <file> <file>`: the part of `npm run build` that needs Temporal's bundler. */
const [plain, encrypted] = process.argv.slice(2);
if (plain === undefined || encrypted === undefined)
  throw new Error('usage: write-bundle.ts <file> <file where payloads are encrypted>');
for (const [file, encryptsFailures] of [
  [plain, false],
  [encrypted, true],
] as const)
  writeFileSync(file, await slim((await bundleWorkflows({ encryptsFailures })).code));
