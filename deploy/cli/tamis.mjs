#!/usr/bin/env node
/**
 * The operator's command line. In a build its code lies compiled beside this file; in a clone it is TypeScript, which
 * tsx reads as the launcher has it.
 */
import { existsSync } from 'node:fs';

if (existsSync(new URL('tamis/main.js', import.meta.url))) await import('./tamis/main.js');
else {
  const { register } = await import('tsx/esm/api').catch(() => {
    console.error('✗ The dependencies are missing: run `npm ci` first.');
    process.exit(1);
  });
  register();
  await import('./tamis/main.ts');
}
