import { writeFileSync } from 'node:fs';
import { bundleWorkflows } from './workflow-bundle.js';

/** `write-bundle.ts <file> <file>`: the part of `npm run build` that needs Temporal's bundler. */
const [plain, encrypted] = process.argv.slice(2);
if (plain === undefined || encrypted === undefined)
  throw new Error('usage: write-bundle.ts <file> <file where payloads are encrypted>');
writeFileSync(plain, (await bundleWorkflows()).code);
writeFileSync(encrypted, (await bundleWorkflows({ encryptsFailures: true })).code);
