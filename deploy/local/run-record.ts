import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endpointsOf } from './endpoints.js';
import type { RunState } from './run-state.js';
import { tryLock } from './file-lock.js';
import { isAlive } from './process-identity.js';
import { writeAtomically } from './write-atomically.js';

/** The record of a tool: a build or a download. */
export const TOOL = { kind: 'tool', kept: false, ports: [] } as const;

const NOTHING: RunState = { commands: [], processes: {}, addresses: {} };

/**
 * `.local/run.json`: what runs in this clone and for whom. It outlives the launcher, so that after a hard kill the
 * next command finds what was left. `endpoints.json` is written from it at every change and so is always true.
 */
export class RunRecord {
  readonly #file: string;
  readonly #local: string;

  constructor(local: string) {
    this.#local = local;
    this.#file = join(local, 'run.json');
  }

  /** The record without the dead: a process that is gone has no address either. */
  read(): RunState {
    let state: RunState;
    try {
      state = { ...structuredClone(NOTHING), ...(JSON.parse(readFileSync(this.#file, 'utf8')) as RunState) };
    } catch {
      return structuredClone(NOTHING);
    }
    state.commands = state.commands.filter(isAlive);
    state.processes = Object.fromEntries(Object.entries(state.processes).filter(([, p]) => isAlive(p)));
    return state;
  }

  /** One change at a time over all launchers of the clone. */
  async change(update: (state: RunState) => void): Promise<void> {
    const release = await this.#lock();
    try {
      const state = this.read();
      update(state);
      writeAtomically(this.#file, `${JSON.stringify(state, null, 2)}\n`, 0o600);
      const endpoints = join(this.#local, 'endpoints.json');
      if (Object.keys(state.processes).length === 0) rmSync(endpoints, { force: true });
      else writeAtomically(endpoints, `${JSON.stringify(endpointsOf(this.#local, state), null, 2)}\n`, 0o600);
    } finally {
      release();
    }
  }

  async #lock(): Promise<() => void> {
    for (;;) {
      const release = tryLock(join(this.#local, 'run.lock'));
      if (release) return release;
      await sleep(10);
    }
  }
}
