import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { SCRIPTS } from './release-build.js';
import type { Release } from './release-build.js';
import { until } from './until.js';

export interface ReleaseProcess {
  release: string;
  /** As an orchestrator ends it: SIGTERM. Answers how it ended. */
  stop(): Promise<number | NodeJS.Signals | null>;
  /** As a machine that fails ends it: SIGKILL. */
  kill(): Promise<void>;
  logs(): string;
}

/** A gateway or a worker of a release, once it says that it is ready. */
export async function startRelease(
  kind: keyof typeof SCRIPTS,
  { folder, name: release }: Release,
  environment: Readonly<Record<string, string>>,
): Promise<ReleaseProcess> {
  const { NODE_OPTIONS: _jest, ...inherited } = process.env;
  const child = spawn(process.execPath, [join(folder, SCRIPTS[kind])], {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  await until(
    `the ${kind} of ${release} is ready`,
    async () => {
      if (child.exitCode !== null)
        throw new Error(`the ${kind} of ${release} stopped:\n${log.slice(-4_000)}`);
      return log.includes(`"msg":"${kind} ready"`);
    },
    { withinMs: 180_000 },
  );
  return {
    release,
    async stop() {
      child.kill('SIGTERM');
      return await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    logs: () => log,
  };
}
