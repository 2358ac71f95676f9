import { join } from 'node:path';
import { findPython, installPythonPackages } from '../python-packages.js';
import type { Workbench } from '../workbench.js';
import { test } from './test.js';

const SUBJECT = 'clients';

/** The Python clients of `test/clients/` against a running stack. Arguments are those of `npm test`. */
export async function testClients(bench: Workbench, args: readonly string[]): Promise<number> {
  const python = await findPython(bench, SUBJECT);
  const packages = await installPythonPackages(bench, {
    subject: SUBJECT,
    python,
    what: 'openai, langchain-openai and mcp',
    requirements: join(bench.paths.root, 'test/clients/requirements.txt'),
  });
  const environment = { TAMIS_PYTHON: python, TAMIS_PYTHON_PACKAGES: packages };
  return await test('jest.clients.config.mjs', { environment })(bench, args);
}
