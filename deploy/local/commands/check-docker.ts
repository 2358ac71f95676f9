import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lineage, parseDockerfile } from '../dockerfile.js';
import type { Stage } from '../dockerfile.js';
import { findProgram } from '../find-program.js';
import { forgetRun } from '../forget-run.js';
import { reservePort } from '../free-port.js';
import { ManagedProcess } from '../managed-process.js';
import { replayDockerfile } from '../replay-dockerfile.js';
import { runToEnd } from '../run-to-end.js';
import { Stack } from '../stack.js';
import type { ServiceAddresses } from '../stack.js';
import type { Workbench } from '../workbench.js';
import { tryImage } from '../try-image.js';

/**
 * What of the images can be checked without Docker: the files themselves (the fast tests), then the Dockerfile's own
 * steps in a clean folder, then gateway and worker started from what they leave, with the images' commands and health
 * checks, on real services; a document goes through both. As root they run as the compose file contains them: as
 * another user without a capability, who can write to a folder of its own in the place of /tmp and nowhere else. Not
 * checked: the base images, and the services' images.
 */
export async function checkDocker(bench: Workbench): Promise<number> {
  const { root } = bench.paths;
  const tests = [join(root, 'node_modules/jest/bin/jest.js'), '--config', 'jest.config.mjs', 'docker-files'];
  const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' };
  const code = await runToEnd(process.execPath, tests, { cwd: root, env, signal: bench.signal });
  if (code !== 0) return code;

  const folder = mkdtempSync(join(tmpdir(), 'tamis-docker-'));
  chmodSync(folder, 0o755);
  const stack = new Stack(bench);
  await stack.enter('check:docker');
  try {
    const stages = parseDockerfile(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'));
    const ignore = readFileSync(join(root, '.dockerignore'), 'utf8');
    const services = await stack.openServices({ supervise: false });
    const homes = await replayDockerfile(bench, stages, ignore, folder);
    await runImages(bench, stages, homes, services);
    bench.report.say('The production install and build run, and so does what they make.');
    return 0;
  } finally {
    await stack.close({ leaveFound: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runImages(
  bench: Workbench,
  stages: readonly Stage[],
  homes: ReadonlyMap<string, string>,
  services: ServiceAddresses,
): Promise<void> {
  const run = `docker-${randomBytes(4).toString('hex')}`;
  const { port, release } = await reservePort(null);
  const token = randomBytes(24).toString('base64url');
  const own = {
    HOST: '127.0.0.1',
    PORT: String(port),
    AUTH_TOKEN: token,
    LOG_LEVEL: 'info',
    CAPI_URL: 'http://127.0.0.1:9/',
    MONGODB_URL: services.mongodb,
    OPENSEARCH_URL: services.opensearch,
    TEMPORAL_ADDRESS: services.temporal,
    TASK_QUEUE_PREFIX: `${run}-`,
    MONGODB_DATABASE: `tamis-${run}`,
    OPENSEARCH_INDEX_PREFIX: `tamis-${run}-`,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    PATH: process.env['PATH'] ?? '',
  };
  const names = {
    database: own.MONGODB_DATABASE,
    indexPrefix: own.OPENSEARCH_INDEX_PREFIX,
    queuePrefix: own.TASK_QUEUE_PREFIX,
  };
  const images = ['gateway', 'worker'].map((target) => image(bench, stages, homes, target, own));
  try {
    await Promise.all(images.map((one) => one.start()));
    release();
    for (const { plan } of images) bench.report.done(plan.name, 'is well, by its own health check');
    await tryImage(bench, `http://127.0.0.1:${port}`, token);
  } finally {
    await Promise.all(images.map((one) => one.stop()));
    release();
    await forgetRun(services, names);
  }
}

/** A target's CMD in its folder; ready when its HEALTHCHECK says so. */
function image(
  bench: Workbench,
  stages: readonly Stage[],
  homes: ReadonlyMap<string, string>,
  target: string,
  own: Record<string, string>,
): ManagedProcess {
  const line = lineage(stages, target);
  const home = homes.get(target);
  const { command, healthCheck } = line.at(-1) ?? {};
  if (home === undefined || !command || !healthCheck)
    throw new Error(`the Dockerfile has no runnable target ${target}`);
  const variables = line
    .flatMap(({ steps }) => steps)
    .map((step) => (step.kind === 'env' ? step.values : {}));
  const env = { ...Object.assign({}, ...variables), ...own } as Record<string, string>;
  // one container's /tmp is not another's
  const temporary = mkdtempSync(`${home}-tmp-`);
  env['TMPDIR'] = temporary;
  const alive = env['WORKER_HEALTH_FILE']?.replace(/^\/tmp\//, '');
  if (alive !== undefined) env['WORKER_HEALTH_FILE'] = join(temporary, alive);
  const start = contained([process.execPath, ...command.slice(1)], temporary);
  return new ManagedProcess(bench, {
    name: `${target} image`,
    kind: 'app',
    ...start,
    cwd: home,
    env,
    log: join(bench.paths.logs, `docker-${target}.log`),
    ports: [],
    readySeconds: 180,
    expectedSeconds: 10,
    stopSeconds: 30,
    ready: async () =>
      (await runToEnd(process.execPath, [...healthCheck.slice(1)], {
        cwd: home,
        env,
        signal: bench.signal,
        quiet: true,
      })) === 0,
    advice: [],
  });
}

/** "nobody", who owns no file of the image. */
const OTHER_USER = 65534;

/** As `cap_drop`, `no-new-privileges` and `read_only` of the compose file have it, as far as this machine lets us. */
function contained(line: readonly string[], temporary: string): { command: string; args: string[] } {
  const setpriv = findProgram('setpriv', process.env, ['/usr/bin']);
  if (process.getuid?.() !== 0 || setpriv === null) {
    const [command = '', ...args] = line;
    return { command, args };
  }
  chownSync(temporary, OTHER_USER, OTHER_USER);
  const identity = [`--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, '--clear-groups', '--no-new-privs'];
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all`);
  return { command: setpriv, args: [...identity, ...capabilities, ...line] };
}
