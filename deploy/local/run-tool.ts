import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killGroup } from './kill-group.js';
import { LauncherError } from './launcher-error.js';
import { identify } from './process-identity.js';
import { TOOL } from './run-record.js';
import type { Workbench } from './workbench.js';

interface ToolCall {
  /** The service it is for; names the log and the record. */
  readonly subject: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly advice?: readonly string[];
  /** The step that it is shown with; left out: `subject`. */
  readonly step?: string;
  /** How far it is, from all that it has written; null: it does not say. Its last line is shown besides. */
  progress?(written: string): string | null;
}

/**
 * Runs a build tool in a process group of its own, its output in `.local/log/build-<subject>.log`. It is recorded
 * while it runs, so that a launcher that was killed leaves no unknown build behind.
 */
export async function runTool(bench: Workbench, call: ToolCall): Promise<void> {
  bench.signal.throwIfAborted();
  const name = `build-${call.subject}`;
  const log = join(bench.paths.logs, `${name}.log`);
  const command = [call.command, ...call.args].join(' ');
  mkdirSync(bench.paths.logs, { recursive: true });
  const output = openSync(log, 'w');
  const child = spawn(call.command, call.args, {
    cwd: call.cwd ?? bench.paths.root,
    env: { ...process.env, ...call.env },
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  const identity = child.pid === undefined ? null : identify(child.pid);
  if (identity) {
    const step = call.step ?? call.subject;
    bench.report.detail(step, () => toolProgress(log, call.progress?.bind(call)));
    const kill = () => void killGroup(identity, 1);
    bench.signal.addEventListener('abort', kill, { once: true });
    await bench.record.change(({ processes }) => void (processes[name] = { ...identity, ...TOOL }));
    await ended;
    bench.signal.removeEventListener('abort', kill);
    await killGroup(identity, 0);
    bench.report.detail(step, null);
    await bench.record.change(({ processes }) => void delete processes[name]);
  }
  const problem = await ended;
  bench.signal.throwIfAborted();
  if (problem !== null) {
    throw new LauncherError(`${call.subject}: the build failed (${problem})`, {
      command,
      log,
      advice: [...(call.advice ?? [])],
    });
  }
}

function toolProgress(log: string, progress?: (written: string) => string | null): string | null {
  let written: string;
  try {
    written = readFileSync(log, 'utf8');
  } catch {
    return null;
  }
  const parts = [progress?.(written) ?? null, lastLine(written)];
  return parts.filter(Boolean).join(': ') || null;
}

/** Without colours, and of a line that a tool has drawn anew again and again the last state. */
function lastLine(written: string): string | null {
  const lines = written.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '').split(/[\r\n]+/);
  return lines.findLast((line) => line.trim() !== '')?.trim() ?? null;
}
