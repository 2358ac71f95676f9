import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killGroup } from '../../../deploy/local/kill-group.js';
import { identify, isAlive } from '../../../deploy/local/process-identity.js';
import type { Launch } from '../../../deploy/local/services/service.js';
import { until } from '../../support/until.js';

/** Path of a program that `npm run test:secured` has obtained. */
export function programOf(variable: string): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error(`${variable} is not set: run this with \`npm run test:secured\``);
  return path;
}

/** A folder for one engine of a test; `removeFolder` takes it away. */
export function engineFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `tamis-secured-${name}-`));
}

export interface EngineProcess {
  /** Ends it and everything it has started. */
  close(): Promise<void>;
}

/**
 * Runs an engine until it answers; one that ends before is an error with its last words.
 * @param answers false or a throw: not yet
 */
export async function startEngine(
  name: string,
  folder: string,
  launch: Pick<Launch, 'command' | 'args' | 'cwd' | 'env' | 'uid'>,
  answers: () => Promise<boolean>,
): Promise<EngineProcess> {
  const log = join(folder, `${name}.log`);
  const output = openSync(log, 'a');
  const child = spawn(launch.command, launch.args, {
    cwd: launch.cwd,
    env: { PATH: process.env['PATH'], ...launch.env },
    // its own group, so that all of it can be ended
    detached: true,
    stdio: ['ignore', output, output],
    ...(launch.uid !== undefined && { uid: launch.uid, gid: launch.uid }),
  });
  closeSync(output);
  child.on('error', () => undefined);
  const leader = child.pid === undefined ? null : identify(child.pid);
  const close = async (): Promise<void> => {
    if (leader !== null) await killGroup(leader, 20);
  };
  const lastWords = (): string => readFileSync(log, 'utf8').slice(-3000);
  try {
    await until(
      `${name} answers`,
      async () => {
        if (leader === null || !isAlive(leader)) throw new Error(`${name} ended`);
        return answers().catch(() => false);
      },
      { withinMs: 180_000, everyMs: 200 },
    );
  } catch (error) {
    const said = lastWords();
    await close();
    throw new Error(`${String(error)}\n${said}`, { cause: error });
  }
  return { close };
}

/** Closes in the reverse order of opening, all of it, and tells of the first failure afterwards. */
export function closer() {
  const closings: (() => unknown)[] = [];
  return {
    add: (close: () => unknown): void => void closings.push(close),
    async all(): Promise<void> {
      const failures: unknown[] = [];
      for (const close of closings.splice(0).reverse()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
