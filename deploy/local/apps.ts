import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { appEnvironment } from './app-environment.js';
import { bindable, reservePort } from './free-port.js';
import { LauncherError } from './launcher-error.js';
import { ManagedProcess } from './managed-process.js';
import type { ProcessPlan } from './managed-process.js';
import { memorySetting } from './memory-plan.js';
import { MALLOC_SETTINGS, NODE_FLAGS } from './node-process.js';
import { openStandInCapi } from './open-stand-in-capi.js';
import type { AppServices, Stack } from './stack.js';
import type { Workbench } from './workbench.js';

const USUAL_PORT = 8080;
/** The worker listens on nothing: it touches its health file every second once it polls. */
const WORKER_FILE_AGE_MS = 2000;

/**
 * Starts gateway and worker, as they were compiled, on the services, and returns where they are: the proxy at the
 * gateway's address unless PROXY_PORT gives it one of its own.
 * @param console the folder of the built console; null: there is none
 */
export async function openApps(
  bench: Workbench,
  stack: Pick<Stack, 'run'>,
  services: AppServices,
  build: string,
  { proxyOnly = false, console }: { proxyOnly?: boolean; console: string | null },
): Promise<{ gateway: string; proxy: string }> {
  const { settings, record } = bench;
  const { port, proxyPort, release } = await gatewayPorts(settings, proxyOnly);
  const wildcard = ['0.0.0.0', '::'].includes(settings['HOST'] ?? '0.0.0.0');
  const host = wildcard ? '127.0.0.1' : (settings['HOST'] ?? '127.0.0.1');
  const at = (listening: number) => `http://${host.includes(':') ? `[${host}]` : host}:${listening}`;
  const gateway = at(port);
  const proxy = at(proxyPort ?? port);
  const listening = [port, ...(proxyPort === null ? [] : [proxyPort])];
  try {
    const healthFile = settings['WORKER_HEALTH_FILE'] ?? join(bench.paths.local, 'worker-alive');
    // those of the clone and not their copies beside the code, so that a change counts while it runs
    const ofClone =
      settings['CONFIG_PATH'] === undefined ? join(bench.paths.root, 'deploy/filters.d') : undefined;
    const filters = settings['FILTERS_DIR'] ?? ofClone;
    const env = {
      ...appEnvironment(bench, services),
      CAPI_URL: await openStandInCapi(bench, stack, { build, besides: listening }),
      ...(filters !== undefined && { FILTERS_DIR: filters }),
      ...(console === null ? {} : { CONSOLE_DIR: settings['CONSOLE_DIR'] ?? console }),
      WORKER_HEALTH_FILE: healthFile,
      ...(proxyOnly ? { SERVICES: 'proxy', PROXY_PORT: '' } : {}),
    };
    await Promise.all([
      stack.run(
        app(bench, 'gateway', join(build, 'api/main.js'), { ...env, PORT: String(port) }, listening, {
          ready: () => answersOk(`${gateway}/ready`),
          answers: () => answersOk(`${gateway}/health_check`),
        }),
      ),
      stack.run(
        app(bench, 'worker', join(build, 'workers/main.js'), env, [], {
          prepare: () => rmSync(healthFile, { force: true }),
          ready: async () => existsSync(healthFile),
          answers: async () => Date.now() - statSync(healthFile).mtimeMs < WORKER_FILE_AGE_MS,
        }),
      ),
    ]);
  } finally {
    release();
  }
  await record.change(({ addresses }) => {
    addresses.gateway = gateway;
    if (proxy !== gateway) addresses.proxy = proxy;
    if (settings['CAPI_URL'] !== undefined) addresses.capi = settings['CAPI_URL'];
    const given = {
      auth_token: 'AUTH_TOKEN',
      dashboard_key: 'DASHBOARD_API_KEY',
    } as const;
    for (const [name, variable] of Object.entries(given) as [keyof typeof given, string][]) {
      const value = settings[variable];
      if (value === undefined) delete addresses[name];
      else addresses[name] = value;
    }
  });
  return { gateway, proxy };
}

/** The user's choice is kept to or refused; without one the usual port or any free one does. */
async function gatewayPorts(
  settings: Workbench['settings'],
  proxyOnly: boolean,
): Promise<{ port: number; proxyPort: number | null; release: () => void }> {
  const chosen = async (variables: readonly string[]): Promise<number | null> => {
    const variable = variables.find((name) => Number(settings[name]) > 0);
    if (variable === undefined) return null;
    const port = Number(settings[variable]);
    if ((await bindable(port)) !== null) return port;
    throw new LauncherError(`gateway: port ${port}, which ${variable} names, is taken`, {
      advice: [`stop what listens there, choose another ${variable}, or unset it to have a free one chosen`],
    });
  };
  const port = await chosen([...(proxyOnly ? ['PROXY_PORT'] : []), 'PORT', 'APP_PORT']);
  const proxyPort = proxyOnly ? null : await chosen(['PROXY_PORT']);
  if (port !== null)
    return { port, proxyPort: proxyPort === port ? null : proxyPort, release: () => undefined };
  const reserved = await reservePort(proxyPort === USUAL_PORT ? null : USUAL_PORT);
  return { ...reserved, proxyPort };
}

function app(
  bench: Workbench,
  name: 'gateway' | 'worker',
  script: string,
  env: NodeJS.ProcessEnv,
  ports: readonly number[],
  signs: Pick<ProcessPlan, 'prepare' | 'ready' | 'answers'>,
): ManagedProcess {
  const log = join(bench.paths.logs, `${name}.log`);
  const memory = memorySetting(bench.settings, `${name}HeapMb`);
  return new ManagedProcess(bench, {
    name,
    kind: 'app',
    command: process.execPath,
    args: [...NODE_FLAGS, `--max-old-space-size=${memory.megabytes}`, script],
    cwd: bench.paths.root,
    env: { ...MALLOC_SETTINGS, ...env },
    log,
    ports,
    readySeconds: 180,
    expectedSeconds: 6,
    stopSeconds: 15,
    ...signs,
    memory,
    advice: [`a setting it refuses is named in its log; settings come from the environment and from .env`],
  });
}

async function answersOk(address: string): Promise<boolean> {
  const response = await fetch(address, { signal: AbortSignal.timeout(5000) });
  await response.arrayBuffer();
  return response.ok;
}
