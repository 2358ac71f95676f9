import { join } from 'node:path';
import { reservePort } from './free-port.js';
import type { ReservedPort } from './free-port.js';
import { killGroup } from './kill-group.js';
import { LauncherError } from './launcher-error.js';
import { ManagedProcess } from './managed-process.js';
import { obtain } from './obtain.js';
import { clock } from './reporter.js';
import type { Program, Service } from './services/service.js';
import type { Workbench } from './workbench.js';

export const STOP_SECONDS = 20;

/** Told of each process as soon as it runs: from then on it is the caller's to look after. */
export type OnProcess = (process: ManagedProcess, service: Service) => void;

/**
 * Step (a) of a service, then what already runs in this clone, then (b) to (e) and a start.
 * @returns its address
 */
export async function openService(bench: Workbench, service: Service, onProcess: OnProcess): Promise<string> {
  const given = bench.settings[service.variable];
  if (given !== undefined) return await useGiven(bench, service, given);
  return (await openOwn(bench, service, onProcess)).address;
}

async function useGiven(bench: Workbench, service: Service, given: string): Promise<string> {
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
  return given;
}

interface Opened {
  readonly name: string;
  readonly address: string;
  /** It was started by this call, maybe at another address than before. */
  readonly isNew: boolean;
}

async function openOwn(bench: Workbench, service: Service, onProcess: OnProcess): Promise<Opened> {
  const program = await obtain(bench, service);
  const needs = service.needs?.(program) ?? null;
  const needed = needs === null ? null : await openOwn(bench, needs, onProcess);
  const running = bench.record.read().processes[service.name];
  if (running) {
    const address = addressOf(service, running.ports);
    // what it needs may have come back elsewhere, where it would not look for it
    if (needed?.isNew !== true && (await answers(bench, service, address, 5))) {
      const process = await plan(bench, service, program, running.ports, needed);
      process.adopt(running);
      onProcess(process, service);
      await note(bench, service, running.ports);
      bench.report.done(service.name, `runs already at ${address}`);
      return { name: service.name, address, isNew: false };
    }
    await killGroup(running, STOP_SECONDS);
  }
  return await startOwn(bench, service, program, needed, onProcess);
}

async function startOwn(
  bench: Workbench,
  service: Service,
  program: Program,
  needed: Opened | null,
  onProcess: OnProcess,
): Promise<Opened> {
  const reserved: ReservedPort[] = [];
  try {
    for (const port of service.ports) reserved.push(await reservePort(port));
    const ports = reserved.map(({ port }) => port);
    const process = await plan(bench, service, program, ports, needed);
    const began = Date.now();
    await process.start();
    onProcess(process, service);
    await note(bench, service, ports);
    const took = clock((Date.now() - began) / 1000);
    bench.report.done(service.name, `answers at ${addressOf(service, ports)} after ${took}`);
    return { name: service.name, address: addressOf(service, ports), isNew: true };
  } finally {
    for (const { release } of reserved) release();
  }
}

async function plan(
  bench: Workbench,
  service: Service,
  program: Program,
  ports: readonly number[],
  needed: Opened | null,
): Promise<ManagedProcess> {
  const launch = await service.launch(bench, program, ports, needed?.address ?? null);
  return new ManagedProcess(bench, {
    ...launch,
    name: service.name,
    kind: 'service',
    ...(needed && { needs: needed.name }),
    ports,
    env: { ...process.env, ...launch.env },
    log: join(bench.paths.logs, `${service.name}.log`),
    stopSeconds: STOP_SECONDS,
    ready: () => service.ready(bench, addressOf(service, ports)),
    answers: () => (service.answers ?? service.ready)(bench, addressOf(service, ports)),
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
