import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { connectGateway } from '../../activities/connect.js';
import type { GatewayAdapters, GatewayDocumentAdapters } from '../../activities/ports/adapters.js';
import type { QueueSummary } from '../../activities/ports/signals.js';
import { temporalDataConverter } from '../../activities/temporal/data-converter.js';
import { temporalConnection } from '../../activities/temporal/temporal-access.js';
import { MALLOC_SETTINGS, NODE_FLAGS } from '../../deploy/local/node-process.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { Config } from '../../schemas/config/config.js';
import type { Alert } from '../../schemas/signals/signals.js';
import { scheduleIds } from '../../schemas/ids.js';
import { dropRun } from './drop-run.js';
import { freePort } from './free-port.js';
import { until } from './until.js';

type Environment = Record<string, string>;

/** A gateway and a worker as real processes on real services, with a database, an index and queues of their own. */
export interface RunningStack {
  readonly base: string;
  readonly token: string;
  readonly config: Config;
  /** The variables of its processes, for further ones. */
  readonly environment: Readonly<Record<string, string>>;
  /** The stores themselves, to look behind the API. */
  readonly adapters: GatewayDocumentAdapters & Pick<GatewayAdapters, 'proxy'>;
  readonly temporal: Client;
  /** @param changes variables for this start only */
  startGateway(changes?: Environment): Promise<void>;
  startWorker(changes?: Environment): Promise<void>;
  /** SIGKILL; resolves once the process is gone. */
  killGateway(): Promise<void>;
  killWorker(): Promise<void>;
  /** SIGTERM; resolves with its exit code, or the signal that ended it, once the process is gone. */
  stopGateway(): Promise<number | NodeJS.Signals | null>;
  stopWorker(): Promise<number | NodeJS.Signals | null>;
  gatewayPid(): number;
  workerPid(): number;
  /** Runs the sweep and the reconciler now instead of waiting for their schedules. */
  sweep(): Promise<void>;
  reconcile(): Promise<void>;
  request(path: string, init?: RequestInit): Promise<Response>;
  /** The stored alerts behind the management API. */
  readonly proxy: { summaries(): Promise<QueueSummary[]>; everyAlert(): AsyncIterable<Alert> };
  logs(): string;
  /** Processes that ended without being told to, each with its last words. */
  crashes(): readonly string[];
  /** Stops and removes everything. @throws Error when a process had crashed */
  close(): Promise<void>;
}

function service(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the tests with \`npm test\``);
  return value;
}

/** Gateway or worker as the launcher compiled them for the tests, otherwise from their sources. */
function programOf(name: 'api' | 'workers'): string[] {
  const build = process.env['TAMIS_TEST_BUILD'];
  return build === undefined
    ? ['--import', 'tsx', `${name}/main.ts`]
    : [...NODE_FLAGS, join(build, name, 'main.js')];
}

/** @param overrides variables for gateway and worker, over the run's own */
export async function openStack(overrides: Environment = {}): Promise<RunningStack> {
  const run = `e2e-${process.pid}-${randomBytes(4).toString('hex')}`;
  const port = await freePort();
  const token = `token-${randomBytes(12).toString('hex')}`;
  const environment: Environment = {
    TAMIS_ENV_FILE: devNull,
    MONGODB_URL: service('MONGODB_URL'),
    OPENSEARCH_URL: service('OPENSEARCH_URL'),
    TEMPORAL_ADDRESS: service('TEMPORAL_ADDRESS'),
    MONGODB_DATABASE: `tamis-${run}`,
    OPENSEARCH_INDEX_PREFIX: `tamis-${run}-`,
    TASK_QUEUE_PREFIX: `${run}-`,
    HOST: '127.0.0.1',
    PORT: String(port),
    AUTH_TOKEN: token,
    DASHBOARD_API_KEY: `key-${randomBytes(12).toString('hex')}`,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    // Campaigns log in more often than CAPI likes.
    LOGIN_BUDGET: '0',
    UNKNOWN_WATCHERS_PER_ADDRESS: '0',
    // Nobody listens there: a test that wants a central API names its stand-in.
    CAPI_URL: 'http://127.0.0.1:9/',
    SWEEP_INTERVAL_SECONDS: '2',
    SWEEP_GRACE_SECONDS: '2',
    LOG_FORMAT: 'json',
    // A worker that gives way takes longer for everything; who tests that it does asks for it.
    WORKER_NICENESS: '0',
    // One client asks more in a minute than a person does in a day; the limits have tests of their own.
    RATE_LIMIT_ENABLED: 'false',
    ...overrides,
  };
  const config = parseConfig(environment);
  const base = `http://127.0.0.1:${port}`;
  const log: string[] = [];
  const processes = new Map<'gateway' | 'worker', ChildProcess>();

  /** Whose end is our doing. */
  const told = new Set<ChildProcess>();
  const crashes: string[] = [];

  const start = async (
    name: 'gateway' | 'worker',
    program: 'api' | 'workers',
    changes: Environment = {},
  ): Promise<void> => {
    const { NODE_OPTIONS: _jest, ...inherited } = process.env;
    const child = spawn(process.execPath, programOf(program), {
      env: { ...MALLOC_SETTINGS, ...inherited, ...environment, ...changes },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    processes.set(name, child);
    child.once('exit', (code, signal) => {
      if (!told.has(child))
        crashes.push(`the ${name} ended by itself (${code ?? signal}):\n${log.slice(-30).join('')}`);
    });
    let ready = false;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log.push(`${name}: ${text}`);
      ready ||= text.includes(`"msg":"${name} ready"`);
    });
    await until(
      `the ${name} is ready`,
      async () => {
        if (child.exitCode !== null) throw new Error(`the ${name} stopped:\n${log.slice(-20).join('')}`);
        return ready;
      },
      { withinMs: 90_000 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${log.slice(-20).join('')}`);
    });
  };

  const end = async (
    name: 'gateway' | 'worker',
    signal: NodeJS.Signals,
  ): Promise<number | NodeJS.Signals | null> => {
    const child = processes.get(name);
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      told.add(child);
      child.kill(signal);
      await gone;
    }
    return child.exitCode ?? child.signalCode;
  };
  const kill = async (name: 'gateway' | 'worker', signal: NodeJS.Signals): Promise<void> =>
    void (await end(name, signal));

  const connection = await Connection.connect(temporalConnection(config.temporal));
  const { namespace } = config.temporal;
  const temporal = new Client({ connection, namespace, dataConverter: temporalDataConverter(config) });
  const connected = await connectGateway({ ...config, services: { documents: true, proxy: true } });
  const adapters = { ...connected.documents!, proxy: connected.proxy };
  const runNow = async (workflowType: string, args: unknown[]): Promise<void> => {
    await temporal.workflow.execute(workflowType, {
      workflowId: `${run}-${workflowType}-${randomBytes(4).toString('hex')}`,
      taskQueue: `${run}-documents`,
      args,
    });
  };

  return {
    base,
    token,
    config,
    environment,
    adapters,
    temporal,
    startGateway: (changes) => start('gateway', 'api', changes),
    startWorker: (changes) => start('worker', 'workers', changes),
    killGateway: () => kill('gateway', 'SIGKILL'),
    killWorker: () => kill('worker', 'SIGKILL'),
    stopGateway: () => end('gateway', 'SIGTERM'),
    stopWorker: () => end('worker', 'SIGTERM'),
    gatewayPid: () => processes.get('gateway')!.pid!,
    workerPid: () => processes.get('worker')!.pid!,
    sweep: () => runNow('sweepDocuments', [{ prefix: `${run}-`, timeoutMs: 3_600_000 }]),
    reconcile: () => runNow('reconcileDocuments', [{ prefix: `${run}-` }]),
    request: (path, init = {}) =>
      fetch(path.startsWith('http') ? path : `${base}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...init.headers },
      }),
    proxy: {
      summaries: () => adapters.proxy!.alerts.summaries(),
      async *everyAlert() {
        const limit = 1000;
        for (let offset = 0; ; offset += limit) {
          const page = await adapters.proxy!.alerts.list({ limit, offset });
          yield* page;
          if (page.length < limit) return;
        }
      },
    },
    logs: () => log.join(''),
    crashes: () => crashes,
    async close() {
      await Promise.all([kill('gateway', 'SIGTERM'), kill('worker', 'SIGTERM')]);
      for (const scheduleId of scheduleIds(`${run}-`))
        await temporal.schedule
          .getHandle(scheduleId)
          .delete()
          .catch(() => undefined);
      // Actors wait for signals that will not come, and the upkeep never ends.
      const open = `WorkflowId STARTS_WITH "${run}-" AND ExecutionStatus = "Running"`;
      for await (const { workflowId } of temporal.workflow.list({ query: open }))
        await temporal.workflow
          .getHandle(workflowId)
          .terminate('the test run is over')
          .catch(() => undefined);
      await connected.close();
      await dropRun(config);
      await connection.close();
      if (crashes.length > 0) throw new Error(crashes.join('\n'));
    },
  };
}
