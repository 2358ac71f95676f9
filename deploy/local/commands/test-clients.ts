import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIntoCache } from '../build-into-cache.js';
import { findPython } from '../python-packages.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

const SUBJECT = 'clients';

/** The Python clients of `test/clients/` against a running stack. Arguments are those of `npm test`. */
export async function testClients(bench: Workbench, args: readonly string[]): Promise<number> {
  const python = await findPython(bench, SUBJECT);
  const environment = { TAMIS_PYTHON: python, TAMIS_PYTHON_PACKAGES: await clientPackages(bench, python) };
  return await test('jest.clients.config.mjs', { environment })(bench, args);
}

/** In a folder of their own, so that nothing of this machine's Python changes; another list, another folder. */
async function clientPackages(bench: Workbench, python: string): Promise<string> {
  const requirements = join(bench.paths.root, 'test/clients/requirements.txt');
  const key = createHash('sha256')
    .update(`${python}\n${readFileSync(requirements, 'utf8')}`)
    .digest('hex')
    .slice(0, 12);
  return await buildIntoCache(bench, `python-clients-${key}`, SUBJECT, async (draft) => {
    bench.report.phase(SUBJECT, 'fetching openai and langchain-openai', 60);
    await runTool(bench, {
      subject: SUBJECT,
      command: python,
      args: [
        ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'],
        ...['--target', draft, '--requirement', requirements],
      ],
      advice: ['pip could not fetch the clients: look at its index-url and try again'],
    });
    bench.report.done(SUBJECT, 'are there');
  });
}
