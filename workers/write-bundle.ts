import { writeFileSync } from 'node:fs';
import { bundleWorkflows } from './workflow-bundle.js';

/** `write-bundle.ts <file>`: the part of `npm run build` that needs Temporal's bundler. */
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: write-bundle.ts <file>');
const { code } = await bundleWorkflows();
writeFileSync(file, code);
