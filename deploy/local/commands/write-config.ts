import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIGURATION_DOCUMENTS, withBlock } from '../configuration-documents.js';
import { writeAtomically } from '../write-atomically.js';
import type { Workbench } from '../workbench.js';

/** Writes what README and `deploy/env.example` say of variables; a test compares both with what this would write. */
export function writeConfig(bench: Workbench): Promise<number> {
  for (const document of CONFIGURATION_DOCUMENTS) {
    const path = join(bench.paths.root, document.file);
    const text = readFileSync(path, 'utf8');
    const written = withBlock(document, text);
    if (written === text) continue;
    writeAtomically(path, written);
    bench.report.say(`wrote ${document.file}`);
  }
  return Promise.resolve(0);
}
