import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup, signalGroup } from './kill-group.js';
import { LauncherError } from './launcher-error.js';
import { identify, isAlive } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { clock } from './reporter.js';
import type { Workbench } from './workbench.js';

const LOG_LIMIT = 10 * 1024 * 1024;
/** After this long without a fault the next one is treated as the first. */
const STEADY_SECONDS = 60;

export interface ProcessPlan {
  readonly name: string;
  readonly kind: 'service' | 'app';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly log: string;
  readonly ports: readonly number[];
  readonly readySeconds: number;
  readonly expectedSeconds: number;
  readonly stopSeconds: number;
  /** Asks the process itself; false or a throw: not yet. `logFrom`: where in the log this run begins. */
  ready(logFrom: number): Promise<boolean>;
  readonly advice: readonly string[];
}

/** One process under the launcher: started, asked until it answers, started again when it dies, stopped. */
export class ManagedProcess {
  readonly plan: ProcessPlan;
  readonly #bench: Workbench;
  #identity: ProcessIdentity | null = null;
  #stopping = false;
  #watching: Promise<void> | null = null;

  constructor(bench: Workbench, plan: ProcessPlan) {
    this.#bench = bench;
    this.plan = plan;
  }

  /** Starts it and returns when it answers; a start that fails or is given up leaves no process. */
  async start(): Promise<void> {
    const { plan } = this;
    this.#bench.signal.throwIfAborted();
    this.#bench.report.phase(plan.name, 'starting', plan.expectedSeconds);
    try {
      await this.#untilReady(await this.#spawn());
    } catch (error) {
      if (this.#identity) await killGroup(this.#identity, plan.stopSeconds);
      await this.#bench.record.change(({ processes }) => void delete processes[plan.name]);
      throw error;
    }
  }

  async #untilReady(logFrom: number): Promise<void> {
    const { plan } = this;
    const { signal } = this.#bench;
    const began = Date.now();
    for (;;) {
      signal.throwIfAborted();
      if (this.#stopping) throw new Error(`${plan.name} was stopped`);
      if (!this.#identity || !isAlive(this.#identity)) throw this.#failure('ended before it was ready');
      if (await plan.ready(logFrom).catch(() => false)) break;
      if (Date.now() - began > plan.readySeconds * 1000) {
        throw this.#failure(`gave no answer for ${clock(plan.readySeconds)}`);
      }
      await sleep(150);
    }
    if (!isAlive(this.#identity)) throw this.#failure('ended as soon as it was ready');
  }

  /** Takes over a process that an earlier launcher started. */
  adopt(identity: ProcessIdentity): void {
    this.#identity = identity;
  }

  /** From now on it is started again whenever it dies, with growing pauses. */
  supervise(): void {
    this.#watching ??= this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#identity) await killGroup(this.#identity, this.plan.stopSeconds);
    await this.#watching;
    if (this.#identity) await killGroup(this.#identity, this.plan.stopSeconds);
    await this.#bench.record.change(({ processes }) => void delete processes[this.plan.name]);
  }

  /** Stops looking after it, and leaves it running. */
  async leave(): Promise<void> {
    this.#stopping = true;
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { plan } = this;
    let faults = 0;
    let upSince = Date.now();
    while (!this.#stopping) {
      if (this.#identity && isAlive(this.#identity)) {
        await sleep(250);
        continue;
      }
      if (this.#stopping) return;
      faults = Date.now() - upSince > STEADY_SECONDS * 1000 ? 0 : faults;
      const pause = Math.min(30, 0.5 * 2 ** faults);
      faults += 1;
      this.#bench.report.say(`  ! ${plan.name} died; starting it again in ${pause} s (log: ${plan.log})`);
      for (const until = Date.now() + pause * 1000; Date.now() < until && !this.#stopping;) await sleep(100);
      if (this.#stopping) return;
      try {
        await this.start();
        this.#bench.report.done(plan.name, 'is back');
        upSince = Date.now();
      } catch (error) {
        this.#bench.report.gone(plan.name);
        if (this.#stopping || this.#bench.signal.aborted) return;
        this.#bench.report.say(`  ! ${error instanceof LauncherError ? error.explain() : String(error)}`);
      }
    }
  }

  async #spawn(): Promise<number> {
    const { plan } = this;
    const { output, size } = openLog(plan);
    // its own group and files, no pipes: it must survive a launcher that is killed
    const child = spawn(plan.command, plan.args, {
      cwd: plan.cwd,
      env: plan.env,
      detached: true,
      stdio: ['ignore', output, output],
      ...(plan.uid === undefined ? {} : { uid: plan.uid, gid: plan.uid }),
    });
    closeSync(output);
    child.unref();
    const { pid } = child;
    // what it started must not outlive it, or a second one would meet the first one's children
    child.once('exit', () => pid !== undefined && signalGroup(pid, 'SIGKILL'));
    const failed = new Promise<Error | null>((resolve) => {
      child.once('error', resolve);
      child.once('spawn', () => resolve(null));
    });
    const error = await failed;
    this.#identity = error || pid === undefined ? null : identify(pid);
    if (!this.#identity) throw this.#failure(`could not be started${error ? `: ${error.message}` : ''}`);
    const entry = { ...this.#identity, kind: plan.kind, kept: false, ports: plan.ports };
    await this.#bench.record.change(({ processes }) => void (processes[plan.name] = entry));
    return size;
  }

  #failure(what: string): LauncherError {
    const { name, command, args, log, advice } = this.plan;
    const shown = [command, ...args].join(' ');
    return new LauncherError(`${name} ${what}`, {
      command: shown.length > 300 ? `${shown.slice(0, 150)} … ${shown.slice(-120)}` : shown,
      log,
      advice,
    });
  }
}

function openLog({ log, name }: ProcessPlan): { output: number; size: number } {
  mkdirSync(dirname(log), { recursive: true });
  const size = sizeOf(log);
  if (size > LOG_LIMIT) renameSync(log, `${log}.1`);
  const output = openSync(log, 'a');
  writeSync(output, `--- ${name} started ${new Date().toISOString()}\n`);
  return { output, size: size > LOG_LIMIT ? 0 : size };
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}
