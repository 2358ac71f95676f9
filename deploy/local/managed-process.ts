import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from './clock.js';
import type { Clock } from './clock.js';
import { lock } from './file-lock.js';
import { killGroup, signalGroup } from './kill-group.js';
import { lastLines, LauncherError } from './launcher-error.js';
import { countMemoryKills, memoryFault } from './memory-fault.js';
import type { MemorySetting } from './memory-fault.js';
import { processActivity } from './process-activity.js';
import { identify, isAlive } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { boundLog, LOG_LIMIT, openLog, readEnd, sizeOf } from './process-log.js';
import { clock as shown } from './reporter.js';
import { MAX_TRIES, RestartPolicy } from './restart-policy.js';
import { WATCH_TIMES, watchProcess } from './watch-process.js';
import type { Fault, WatchTimes } from './watch-process.js';
import type { Workbench } from './workbench.js';

/** Of what a failed process wrote, so many lines are shown and so many bytes are searched for a reason. */
const SHOWN_LINES = 5;
const SEARCHED_BYTES = 64 * 1024;
/** A process that does not answer is not waited for long when it is asked to end. */
const SILENT_GRACE_SECONDS = 2;

export interface ProcessPlan {
  readonly name: string;
  readonly kind: 'service' | 'app';
  /** The name of another process without which this one cannot do its work. */
  readonly needs?: string;
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
  /** Called before each start: takes away what an earlier run left that would make this one look ready. */
  prepare?(): void;
  /** Asks the process itself; false or a throw: not yet. `logFrom`: where in the log this run begins. */
  ready(logFrom: number): Promise<boolean>;
  /** Asks a process that was ready whether it still answers at all; left out: only its end is noticed. */
  answers?(): Promise<boolean>;
  readonly advice: readonly string[];
  readonly memory?: MemorySetting;
}

export interface Supervision {
  /** Called once, when it does not stay up; from then on it is left alone. */
  onGivenUp(reason: LauncherError): void;
  /** Whether what it needs is there; until then it is not started again. */
  canStart?(): boolean;
}

export interface ProcessOptions {
  readonly clock?: Clock;
  readonly times?: WatchTimes;
  /** Bytes above which its log is moved aside while it runs. */
  readonly logLimit?: number;
}

/** One process under the launcher: started, asked until it answers, started again when it fails, stopped. */
export class ManagedProcess {
  readonly plan: ProcessPlan;
  readonly #bench: Workbench;
  readonly #clock: Clock;
  readonly #times: WatchTimes;
  readonly #logLimit: number;
  readonly #policy = new RestartPolicy();
  #identity: ProcessIdentity | null = null;
  /** Where in the log the present run begins. */
  #logFrom = 0;
  /** How the present run ended, where it is a child of this launcher and not one of an earlier launcher. */
  #exit: Promise<string> | null = null;
  #memoryKills = 0;
  readonly #stopped = new AbortController();
  #isRestarting = false;
  #watching: Promise<void> | null = null;

  constructor(
    bench: Workbench,
    plan: ProcessPlan,
    { clock = SYSTEM_CLOCK, times = WATCH_TIMES, logLimit = LOG_LIMIT }: ProcessOptions = {},
  ) {
    this.#bench = bench;
    this.plan = plan;
    this.#clock = clock;
    this.#times = times;
    this.#logLimit = logLimit;
  }

  /** It failed, and is not back yet. */
  get isRestarting(): boolean {
    return this.#isRestarting;
  }

  get #stopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Starts it and returns when it answers; a start that fails or is given up leaves no process. */
  async start(): Promise<void> {
    const { plan } = this;
    this.#bench.signal.throwIfAborted();
    this.#bench.report.phase(plan.name, 'starting', plan.expectedSeconds);
    try {
      await this.#spawn();
      await this.#untilReady();
    } catch (error) {
      if (this.#identity) await killGroup(this.#identity, plan.stopSeconds);
      const forget = this.#bench.record.change(({ processes }) => void delete processes[plan.name]);
      // Where that fails as well, the first failure is the one to tell.
      await forget.catch(() => undefined);
      throw error;
    }
  }

  async #untilReady(): Promise<void> {
    const { plan } = this;
    const { signal } = this.#bench;
    const began = this.#clock.now();
    for (;;) {
      signal.throwIfAborted();
      if (this.#stopping) throw new Error(`${plan.name} was stopped`);
      if (!this.#identity || !isAlive(this.#identity)) throw this.#failure('ended before it was ready');
      if (await plan.ready(this.#logFrom).catch(() => false)) break;
      if (this.#clock.now() - began > plan.readySeconds * 1000) {
        throw this.#failure(`gave no answer for ${shown(plan.readySeconds)}`);
      }
      await this.#clock.sleep(150);
    }
    if (!isAlive(this.#identity)) throw this.#failure('ended as soon as it was ready');
  }

  /** Takes over a process that an earlier launcher started. */
  adopt(identity: ProcessIdentity): void {
    this.#identity = identity;
    this.#exit = null;
    this.#logFrom = sizeOf(this.plan.log);
  }

  /** From now on it is watched, and started again when it ends or does not answer. */
  supervise(supervision: Supervision): void {
    this.#watching ??= this.#watch(supervision);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#identity) await killGroup(this.#identity, this.plan.stopSeconds);
    await this.#watching;
    if (this.#identity) await killGroup(this.#identity, this.plan.stopSeconds);
    await this.#bench.record.change(({ processes }) => void delete processes[this.plan.name]);
  }

  /** Stops looking after it, and leaves it running. */
  async leave(): Promise<void> {
    this.#stopped.abort();
    await this.#watching;
  }

  async #watch(supervision: Supervision): Promise<void> {
    const { plan } = this;
    const { report } = this.#bench;
    this.#memoryKills = countMemoryKills();
    const watched = {
      isWanted: () => !this.#stopping,
      onLook: () => {
        if (boundLog(plan.log, this.#logLimit)) this.#logFrom = 0;
      },
      isAlive: () => this.#identity !== null && isAlive(this.#identity),
      answers: plan.answers?.bind(plan) ?? null,
      activity: () => (this.#identity ? processActivity(this.#identity.pid) : null),
      onSlow: (seconds: number) =>
        this.#sayFault(
          `has not answered for ${seconds} s but is at work; it is started again if that lasts ` +
            shown(this.#times.busyMs / 1000),
        ),
      onAnswer: () => report.done(plan.name, 'answers again'),
    };
    for (;;) {
      const fault = await watchProcess(watched, this.#times, this.#clock);
      if (fault === null) return;
      this.#isRestarting = true;
      try {
        if (!(await this.#restart(fault, supervision))) return;
      } catch (error) {
        // a fault of the launcher itself: without its watch the process must not look looked after
        return supervision.onGivenUp(this.#failure(`can no longer be watched: ${String(error)}`));
      } finally {
        this.#isRestarting = false;
      }
    }
  }

  /** Until it is back (true), or is given up or no longer wanted (false). */
  async #restart(fault: Fault, supervision: Supervision): Promise<boolean> {
    const { plan } = this;
    const { report, signal } = this.#bench;
    const began = this.#clock.now();
    let what = await this.#describe(fault);
    for (;;) {
      const pause = this.#policy.next(this.#clock.now());
      if (pause === null) {
        supervision.onGivenUp(this.#doesNotStayUp(what));
        return false;
      }
      this.#sayFault(`${what}; it is started again in ${pause} s`);
      if (!(await this.#pause(pause * 1000, supervision))) return false;
      try {
        await this.#startAnew(fault);
        this.#policy.succeeded();
        report.done(plan.name, 'is back');
        report.say(`    ${plan.name} was away for ${shown((this.#clock.now() - began) / 1000)}.`);
        return true;
      } catch (error) {
        report.gone(plan.name);
        if (this.#stopping || signal.aborted) return false;
        what = this.#withMemoryFault(
          error instanceof LauncherError ? error.message.replace(`${plan.name} `, '') : String(error),
        );
      }
    }
  }

  /** False: meanwhile it is no longer wanted. */
  async #pause(ms: number, { canStart = () => true }: Supervision): Promise<boolean> {
    try {
      await this.#clock.sleep(ms, this.#stopped.signal);
      while (!canStart()) await this.#clock.sleep(200, this.#stopped.signal);
      return true;
    } catch {
      return false;
    }
  }

  /** One launcher at a time; what another one has started again by then is taken over. */
  async #startAnew(fault: Fault): Promise<void> {
    const { paths, record, signal } = this.#bench;
    const release = await lock(join(paths.local, `restart-${this.plan.name}.lock`), {
      signal: AbortSignal.any([signal, this.#stopped.signal]),
    });
    try {
      const failed = this.#identity;
      const recorded = record.read().processes[this.plan.name];
      if (recorded && (recorded.pid !== failed?.pid || recorded.started !== failed.started)) {
        return this.adopt(recorded);
      }
      if (failed && fault.kind === 'silent') {
        // one that is halted takes no signal but SIGKILL
        await killGroup(failed, fault.state === 'stopped' ? 0 : SILENT_GRACE_SECONDS);
      }
      await this.start();
    } finally {
      release();
    }
  }

  async #describe(fault: Fault): Promise<string> {
    if (fault.kind === 'silent') {
      const because = { stopped: ' (it was halted)', idle: '', busy: ' although it is at work' }[fault.state];
      return this.#withMemoryFault(`has not answered for ${fault.seconds} s${because}`);
    }
    // the process table may show the end a moment before the event that tells how
    const exit = this.#exit && (await Promise.race([this.#exit, this.#clock.sleep(500)]));
    return this.#withMemoryFault(`ended${exit ? ` (${exit})` : ''}`);
  }

  #withMemoryFault(what: string): string {
    const kills = countMemoryKills();
    const reason = memoryFault(this.#written(), kills > this.#memoryKills, this.plan.memory);
    this.#memoryKills = kills;
    return reason === null ? what : `${what}: ${reason}`;
  }

  /** The end of what the present run wrote. */
  #written(): string {
    try {
      return readEnd(this.plan.log, SEARCHED_BYTES, this.#logFrom).toString();
    } catch {
      return '';
    }
  }

  #sayFault(what: string): void {
    const { name, log } = this.plan;
    const tail = lastLines(log, SHOWN_LINES).map((line) => `\n    | ${line}`);
    this.#bench.report.say(`  ! ${name} ${what}; the end of ${log}:${tail.join('')}`);
  }

  #doesNotStayUp(what: string): LauncherError {
    return this.#failure(`does not stay up: it was started again ${MAX_TRIES} times, and last it ${what}`, [
      'nothing was deleted: mend the cause that its log names, then run the same command again',
    ]);
  }

  async #spawn(): Promise<void> {
    const { plan } = this;
    plan.prepare?.();
    const { output, size } = openLog(plan.log, plan.name);
    this.#logFrom = size;
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
    this.#exit = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    const failed = new Promise<Error | null>((resolve) => {
      child.once('error', resolve);
      child.once('spawn', () => resolve(null));
    });
    const error = await failed;
    this.#identity = error || pid === undefined ? null : identify(pid);
    if (!this.#identity) throw this.#failure(`could not be started${error ? `: ${error.message}` : ''}`);
    const entry = { ...this.#identity, kind: plan.kind, kept: false, ports: plan.ports };
    await this.#bench.record.change(({ processes }) => void (processes[plan.name] = entry));
  }

  #failure(what: string, more: readonly string[] = []): LauncherError {
    const { name, command, args, log, advice } = this.plan;
    const shown = [command, ...args].join(' ');
    return new LauncherError(`${name} ${what}`, {
      command: shown.length > 300 ? `${shown.slice(0, 150)} … ${shown.slice(-120)}` : shown,
      log,
      advice: [...more, ...advice],
    });
  }
}
