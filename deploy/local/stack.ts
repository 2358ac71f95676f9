import { join } from 'node:path';
import { lock } from './file-lock.js';
import { killGroup } from './kill-group.js';
import type { LauncherError } from './launcher-error.js';
import type { ManagedProcess } from './managed-process.js';
import { obtain } from './obtain.js';
import { openOptional } from './open-optional.js';
import { openService, STOP_SECONDS } from './open-service.js';
import { ownIdentity } from './process-identity.js';
import type { RecordedCommand, RunState } from './run-state.js';
import { sayFailure } from './say-failure.js';
import { mongodb } from './services/mongodb.js';
import { ollama } from './services/ollama.js';
import { opensearch } from './services/opensearch.js';
import { redis } from './services/redis.js';
import type { EngineName, Obtainable, OptionalName, Service } from './services/service.js';
import { temporal } from './services/temporal.js';
import { untilAborted } from './until-aborted.js';
import type { Workbench } from './workbench.js';

/** The commands that run gateway and worker. */
const SUPERVISORS = new Set(['start', 'demo']);

const ENGINES = [temporal, mongodb, opensearch];
const PROXY_ENGINES = [temporal, mongodb];
export const OPTIONAL: Readonly<Record<OptionalName, Service>> = { redis, ollama };

export type ServiceAddresses = Record<EngineName, string> &
  Partial<Record<OptionalName | 'temporal_ui', string>>;
/** What gateway and worker are given: the proxy alone goes without a search engine. */
export type AppServices = Omit<ServiceAddresses, 'opensearch'> &
  Partial<Pick<ServiceAddresses, 'opensearch'>>;

export interface Opening {
  /** Watches them, and starts them again when they fail. */
  readonly supervise: boolean;
  /** What is opened besides the engines, where the machine has it. */
  readonly also?: readonly OptionalName[];
  /** What is opened besides the engines, obtained when missing; a failure is one of the command. */
  readonly demanded?: readonly OptionalName[];
}

/** The commands besides this one, in words. */
function othersIn({ commands }: Pick<RunState, 'commands'>): string[] {
  return commands
    .filter(({ pid }) => pid !== process.pid)
    .map(({ command, pid }) => `${command}, process ${pid}`);
}

/**
 * The one supervisor: what runs in this clone, as one command uses it. Services that run are shared with other
 * commands, the rest is started, and at the end only what no other command needs is stopped.
 */
export class Stack {
  readonly #bench: Workbench;
  readonly #apps: ManagedProcess[] = [];
  readonly #services: ManagedProcess[] = [];
  readonly #opening: Promise<unknown>[] = [];

  readonly #failed = new AbortController();

  constructor(bench: Workbench) {
    this.#bench = { ...bench, signal: AbortSignal.any([bench.signal, this.#failed.signal]) };
  }

  /** Aborted by Ctrl-C, and with the reason when something that is needed does not stay up. */
  get signal(): AbortSignal {
    return this.#bench.signal;
  }

  /** Returns at Ctrl-C; throws the reason when something that is needed does not stay up. */
  async untilStopped(): Promise<void> {
    await untilAborted(this.signal);
    this.#failed.signal.throwIfAborted();
  }

  /**
   * Registers the command: from here on no other one stops under its feet what it uses. There is one supervisor of
   * gateway and worker: when another has that place, it is returned and this command is not registered.
   */
  async enter(command: string): Promise<RecordedCommand | null> {
    let other: RecordedCommand | undefined;
    await this.#bench.record.change((state) => {
      if (SUPERVISORS.has(command)) other = state.commands.find((known) => SUPERVISORS.has(known.command));
      if (other) return;
      const foundLying = state.commands.length === 0;
      for (const [name, entry] of Object.entries(state.processes)) {
        if (foundLying && entry.kind === 'service') state.processes[name] = { ...entry, kept: true };
      }
      state.commands.push({ ...ownIdentity(), command });
    });
    return other ?? null;
  }

  /** Comes by something that is not run as a service. */
  async obtain(thing: Obtainable): Promise<string> {
    return (await this.#track(obtain(this.#bench, thing))).path;
  }

  /** Does something that is needed besides the services; it is given up when they fail, and they when it fails. */
  prepare<T>(work: (bench: Workbench) => Promise<T>): Promise<T> {
    return this.#track(work(this.#bench));
  }

  /** Brings up the services, side by side. */
  openServices(opening: Opening): Promise<ServiceAddresses> {
    return this.#track(this.#openServices(ENGINES, opening) as Promise<ServiceAddresses>);
  }

  /** The same for gateway and worker of the proxy alone. */
  openProxyServices(opening: Opening): Promise<AppServices> {
    return this.#track(this.#openServices(PROXY_ENGINES, opening));
  }

  async #openServices(
    engines: readonly Service[],
    { supervise, also = [], demanded = [] }: Opening,
  ): Promise<AppServices> {
    const { paths, report, signal } = this.#bench;
    const release = await lock(join(paths.local, 'starting.lock'), {
      signal,
      onWait: (holder) =>
        report.phase('services', `another command (process ${holder?.pid}) is starting them`),
    });
    try {
      report.gone('services');
      await this.#endLeftovers();
      const needed = [...engines, ...demanded.map((name) => OPTIONAL[name])];
      const wanted = also.filter((name) => !demanded.includes(name)).map((name) => OPTIONAL[name]);
      const onProcess = (process: ManagedProcess, service: Service) => {
        this.#services.push(process);
        if (!supervise) return;
        process.supervise({
          onGivenUp: (reason) => this.#giveUp(service, reason),
          canStart: () =>
            !this.#services.some(
              ({ plan, isRestarting }) => plan.name === process.plan.needs && isRestarting,
            ),
        });
      };
      const opening = [
        ...needed.map((service) => ({ service, opened: openService(this.#bench, service, onProcess) })),
        ...wanted.map((service) => ({ service, opened: openOptional(this.#bench, service, onProcess) })),
      ].map(async ({ service, opened }) => {
        const address = await this.#track<string | null>(opened);
        return address === null ? [] : [[service.name, address] as const];
      });
      return Object.fromEntries((await Promise.all(opening)).flat()) as AppServices;
    } finally {
      release();
    }
  }

  /** Starts gateway or worker and keeps it up. */
  async run(app: ManagedProcess): Promise<void> {
    this.#apps.push(app);
    await this.#track(app.start());
    app.supervise({
      onGivenUp: (reason) => this.#failed.abort(reason),
      // started beside an engine that is still away, it would use up its tries for nothing
      canStart: () => !this.#services.some(({ isRestarting }) => isRestarting),
    });
    this.#bench.report.done(app.plan.name, 'is up');
  }

  /** What can be done without is; anything else ends the command. */
  #giveUp({ optional }: Service, reason: LauncherError): void {
    if (optional === undefined) this.#failed.abort(reason);
    else this.#bench.report.say(`  ! ${reason.explain()}\n  ! from now on ${optional.without}`);
  }

  /** When one thing fails the others give up too, rather than finish a build of minutes for nothing. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#opening.push(work);
    try {
      return await work;
    } catch (error) {
      this.#failed.abort(error);
      throw error;
    }
  }

  /**
   * Ends this command's part. Services stay when another command uses them, when they were found running and
   * `leaveFound` says that this counts, or all of them with `leaveAll`. A record that cannot be written (a full disk)
   * keeps no process running, and takes the place of no reason to close.
   */
  async close({
    leaveFound = false,
    leaveAll = false,
  }: {
    leaveFound?: boolean;
    leaveAll?: boolean;
  }): Promise<void> {
    const { record, report } = this.#bench;
    await Promise.allSettled(this.#opening);
    const steps = await Promise.allSettled(this.#apps.map((app) => app.stop()));
    let others = othersIn(record.read());
    steps.push(
      ...(await Promise.allSettled([
        record.change((state) => {
          state.commands = state.commands.filter(({ pid }) => pid !== process.pid);
          others = othersIn(state);
          if (this.#apps.length > 0)
            for (const name of ['gateway', 'proxy', 'capi'] as const) delete state.addresses[name];
        }),
      ])),
    );
    const { processes } = record.read();
    const stays = ({ plan: { name } }: ManagedProcess) =>
      leaveAll || others.length > 0 || (leaveFound && processes[name]?.kept === true);
    steps.push(
      ...(await Promise.allSettled(
        this.#services.map((service) => (stays(service) ? service.leave() : service.stop())),
      )),
    );
    const left = this.#services.filter(stays).map(({ plan }) => plan.name);
    if (left.length > 0) {
      const why = others.length > 0 ? `in use by ${others.join(' and ')}` : '`npm run down` ends them';
      report.say(`Left running: ${left.join(', ')} (${why}).`);
    }
    if (others.length === 0 && left.length === 0)
      steps.push(...(await Promise.allSettled([record.change((state) => void (state.addresses = {}))])));
    sayFailure(report, steps);
  }

  /** What a killed launcher left: builds, downloads, a gateway and a worker without a supervisor. */
  async #endLeftovers(): Promise<void> {
    const { record, report } = this.#bench;
    const { commands, processes } = record.read();
    if (commands.some(({ pid }) => pid !== process.pid)) return;
    const orphans = Object.entries(processes).filter(([, { kind }]) => kind !== 'service');
    if (orphans.length === 0) return;
    report.say(
      `  ! ended what an earlier run left: ${orphans.map(([name, { pid }]) => `${name} (${pid})`).join(', ')}`,
    );
    await Promise.all(orphans.map(([, orphan]) => killGroup(orphan, STOP_SECONDS)));
    await record.change((state) => {
      for (const [name] of orphans) delete state.processes[name];
      delete state.addresses.gateway;
      delete state.addresses.proxy;
    });
  }
}
