import { existsSync } from 'node:fs';
import { findProgram } from './find-program.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

/** Installs a Debian package when we are root on a system that has apt; false when that is not our place. */
export async function aptInstall(bench: Workbench, subject: string, name: string): Promise<boolean> {
  const apt = findProgram('apt-get', process.env);
  if (process.getuid?.() !== 0 || !apt || !existsSync('/etc/debian_version')) return false;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const call = { subject: `${subject}-apt`, step: subject, command: apt, env };
  await runTool(bench, { ...call, args: ['update', '-q'] });
  const args = ['install', '-q', '-y', '--no-install-recommends', name];
  await runTool(bench, { ...call, args });
  return true;
}
