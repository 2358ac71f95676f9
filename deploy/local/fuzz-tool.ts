import { join } from 'node:path';
import { LauncherError } from './launcher-error.js';
import { findPython, installPythonPackages } from './python-packages.js';
import type { Workbench } from './workbench.js';

const SUBJECT = 'fuzz';

/** The variables that name schemathesis for the tests of `test/fuzz/`, obtained first where it is not there. */
export async function obtainFuzzTool(bench: Workbench): Promise<Record<string, string>> {
  const python = await findPython(bench, SUBJECT);
  const packages = await installPythonPackages(bench, {
    subject: SUBJECT,
    python,
    what: 'schemathesis',
    requirements: join(bench.paths.root, 'test/fuzz/requirements.txt'),
  });
  return { TAMIS_PYTHON: python, TAMIS_FUZZ_PACKAGES: packages };
}

/** The same, and a line instead where neither Python nor the network can be had. */
export async function obtainFuzzToolOrSay(bench: Workbench): Promise<Record<string, string>> {
  try {
    return await obtainFuzzTool(bench);
  } catch (error) {
    if (!(error instanceof LauncherError)) throw error;
    bench.report.say(`Requests will not be generated from the OpenAPI document: ${error.message}`);
    return {};
  }
}
