import { join } from 'node:path';
import { reservePort } from './free-port.js';
import type { ReservedPort } from './free-port.js';
import { killGroup } from './kill-group.js';
import { LauncherError } from './launcher-error.js';
import { ManagedProcess } from './managed-process.js';
import { obtain } from './obtain.js';
import { clock } from './reporter.js';
import type { Service } from './services/service.js';
import type { Workbench } from './workbench.js';

export const STOP_SECONDS = 20;

export interface OpenedService {
  readonly address: string;
  /** Null for a server that is not ours. */
  readonly process: ManagedProcess | null;
}

/** Step (a) of a service, then what already runs in this clone, then (b) to (e) and a start. */
export async function openService(bench: Workbench, service: Service): Promise<OpenedService> {
  const given = bench.settings[service.variable];
  const opened = given === undefined ? await openOwn(bench, service) : await useGiven(bench, service, given);
  return opened;
}

async function useGiven(bench: Workbench, service: Service, given: string): Promise<OpenedService> {
  bench.report.phase(service.name, `asking the one that ${service.variable} names`);
  if (!(await answers(bench, service, given, 20))) {
    throw new LauncherError(`${service.name}: the server that ${service.variable} names gives no answer`, {
      advice: [
        `start it, correct ${service.variable} (environment or .env), or unset it and one is provided here`,
      ],
    });
  }
  await bench.record.change(({ addresses }) => void (addresses[service.name] = given));
  bench.report.done(service.name, `uses the one that ${service.variable} names`);
  return { address: given, process: null };
}

async function openOwn(bench: Workbench, service: Service): Promise<OpenedService> {
  const running = bench.record.read().processes[service.name];
  if (running) {
    const address = addressOf(service, running.ports);
    if (await answers(bench, service, address, 5)) {
      const process = await plan(bench, service, running.ports);
      process.adopt(running);
      await note(bench, service, running.ports);
      bench.report.done(service.name, `runs already at ${address}`);
      return { address, process };
    }
    await killGroup(running, STOP_SECONDS);
  }
  return await startOwn(bench, service);
}

async function startOwn(bench: Workbench, service: Service): Promise<OpenedService> {
  await obtain(bench, service);
  const reserved: ReservedPort[] = [];
  try {
    for (const port of service.ports) reserved.push(await reservePort(port));
    const ports = reserved.map(({ port }) => port);
    const process = await plan(bench, service, ports);
    const began = Date.now();
    await process.start();
    await note(bench, service, ports);
    const took = clock((Date.now() - began) / 1000);
    bench.report.done(service.name, `answers at ${addressOf(service, ports)} after ${took}`);
    return { address: addressOf(service, ports), process };
  } finally {
    for (const { release } of reserved) release();
  }
}

async function plan(bench: Workbench, service: Service, ports: readonly number[]): Promise<ManagedProcess> {
  const program = await obtain(bench, service);
  const launch = await service.launch(bench, program, ports);
  return new ManagedProcess(bench, {
    ...launch,
    name: service.name,
    kind: 'service',
    ports,
    env: { ...process.env, ...launch.env },
    log: join(bench.paths.logs, `${service.name}.log`),
    stopSeconds: STOP_SECONDS,
    ready: () => service.ready(bench, addressOf(service, ports)),
    advice: [
      `data of this clone: ${launch.cwd}; \`npm run reset\` deletes it if it is damaged`,
      `or set ${service.variable} to a server that runs already`,
    ],
  });
}

async function note(bench: Workbench, service: Service, ports: readonly number[]): Promise<void> {
  await bench.record.change(({ addresses }) => void Object.assign(addresses, service.addresses(ports)));
}

function addressOf(service: Service, ports: readonly number[]): string {
  const address = service.addresses(ports)[service.name];
  if (address === undefined) throw new Error(`${service.name} has no address`);
  return address;
}

async function answers(
  bench: Workbench,
  service: Service,
  address: string,
  seconds: number,
): Promise<boolean> {
  const deadline = Date.now() + seconds * 1000;
  do {
    if (await service.ready(bench, address).catch(() => false)) return true;
    bench.signal.throwIfAborted();
  } while (Date.now() < deadline);
  return false;
}
