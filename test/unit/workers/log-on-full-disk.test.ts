import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** Writes a line every 20 ms, says so after the tenth, and ends by SIGTERM as gateway and worker do. */
const CHILD = `
  import { createLogger } from './activities/create-logger.ts';
  const logger = createLogger({ level: 'info', format: process.argv[1] }, 'worker');
  let lines = 0;
  setInterval(() => {
    logger.info({ lines }, 'a line');
    if ((lines += 1) === 10) console.log('still at work');
  }, 20);
  process.on('SIGTERM', () => {
    logger.warn('stopping');
    logger.flush(() => process.exit(0));
  });
`;

test.each(['json', 'text'])(
  'a log of %s on a full disk ends no process, and keeps none from ending',
  async (format) => {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', CHILD, format], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', full],
    });
    closeSync(full);
    child.stdout!.once('data', () => child.kill('SIGTERM'));
    const [said, [status]] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
    expect(said).toBe('still at work\n');
    expect(status).toBe(0);
  },
  30_000,
);
