import type { Behaviour } from '../../deploy/stand-in-capi/behaviour.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { PushRecord } from '../../deploy/stand-in-capi/push-log.js';
import type { CutLine } from './cut-line.js';
import type { RunningStack } from './running-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

export interface OutageReport {
  /** Broken promises: empty when all went well. */
  faults: string[];
  /** The slowest answer to a push, in milliseconds. */
  slowestMs: number;
  pushed: number;
  filtered: number;
  arrived: number;
  /** Batches that CAPI was offered again after it had taken them without our knowing. */
  repeats: number;
  logins: number;
}

interface Phase {
  name: string;
  behaviour?: Behaviour;
  /** Before the pushes of the phase. */
  begin?(): Promise<void>;
  /** After them, and after the fault was met. */
  end?(): Promise<void>;
}

interface Campaign {
  stack: RunningStack;
  standIn: StandInCapi;
  temporalLine: CutLine;
  watchers: number;
  /** In each of the twelve phases, by each watcher. */
  signalsPerPhase: number;
}

/** Private addresses: the shipped rule for internal ranges holds them back. */
const INTERNAL = { scope: 'Ip', value: '10.1.2.3', ip: '10.1.2.3' };

/**
 * Watchers push while the central API fails in every way it can, and while worker, gateway and Temporal go away. Each
 * push is answered; afterwards what CAPI received is compared with what was pushed.
 */
export async function runOutageCampaign(campaign: Campaign): Promise<OutageReport> {
  const { stack, standIn } = campaign;
  const clients = Array.from({ length: campaign.watchers }, (_, index) =>
    signalClient(stack.base, `outagewatcher${index}`),
  );
  await Promise.all(clients.map((client) => client.login()));
  const expected = new Map<string, string[]>(clients.map((client) => [client.machineId, []]));
  const report: OutageReport = {
    faults: [],
    slowestMs: 0,
    pushed: 0,
    filtered: 0,
    arrived: 0,
    repeats: 0,
    logins: 0,
  };

  const toldTo = new Set<string>();
  const push = async (client: (typeof clients)[number]): Promise<void> => {
    const signals = Array.from({ length: campaign.signalsPerPhase }, (_, index) =>
      sampleSignal(index, index % 5 === 4 ? { source: INTERNAL } : {}),
    );
    const from = performance.now();
    const response = await client.push(signals);
    await response.arrayBuffer();
    report.slowestMs = Math.max(report.slowestMs, performance.now() - from);
    const comeAgain = response.status === 503 ? response.headers.get('Retry-After') : null;
    if (comeAgain !== null) {
      // More at once than this machine stores in a second: told so at once, a LAPI keeps them and comes again.
      await new Promise((resolve) => setTimeout(resolve, Number(comeAgain) * 1000));
      return push(client);
    }
    report.pushed += signals.length;
    const passed = signals.filter((signal) => signal.source !== INTERNAL);
    report.filtered += signals.length - passed.length;
    // Also a 401 comes after the batch was stored: it only asks for a login.
    expected.get(client.machineId)!.push(...passed.map((signal) => signal.uuid));
    if (response.status === 401) {
      report.logins += 1;
      toldTo.add(client.machineId);
      await client.login();
    } else if (response.status !== 200) report.faults.push(`a push was answered ${response.status}`);
  };

  /** Each watcher is told once that its token is worn out: at its next push, after that push was stored. */
  const tellEveryone = async (): Promise<void> => {
    const untold = () => clients.filter((client) => !toldTo.has(client.machineId));
    await until(
      'every watcher has been told to log in',
      async () => {
        await Promise.all(untold().map(push));
        return untold().length === 0;
      },
      { withinMs: 120_000, everyMs: 500 },
    ).catch((error: unknown) => {
      throw new Error(
        `${String(error)}; not told: ${untold()
          .map((client) => client.machineId)
          .join(', ')}`,
      );
    });
  };

  for (const phase of phases(campaign)) {
    const before = standIn.pushes().length;
    if (phase.behaviour !== undefined) standIn.behave(phase.behaviour);
    await phase.begin?.();
    await Promise.all(clients.map(push));
    if (phase.behaviour !== undefined)
      await until(
        `the fault of phase ${phase.name} is met`,
        async () =>
          standIn
            .pushes()
            .slice(before)
            .some((record) => record.fault === phase.behaviour!.kind) || phase.behaviour!.kind === 'slow',
        { withinMs: 60_000 },
      );
    await phase.end?.();
    if (phase.behaviour?.kind === 'unauthorized') await tellEveryone();
    standIn.behave();
  }

  const wanted = [...expected.values()].reduce((sum, uuids) => sum + uuids.length, 0);
  await until('everything has arrived', async () => distinct(standIn.received()).size >= wanted, {
    withinMs: 180_000,
    everyMs: 500,
  }).catch((error: unknown) => report.faults.push(String(error)));
  report.arrived = distinct(standIn.received()).size;
  report.repeats = standIn.received().length - new Set(standIn.received().map((push_) => push_.sha256)).size;
  for (const client of clients)
    report.faults.push(...compare(standIn.received(client.machineId), expected.get(client.machineId)!));
  report.faults.push(...(await compareMarks(stack, standIn.received())));
  return report;
}

function phases({ stack, standIn, temporalLine }: Campaign): Phase[] {
  return [
    { name: 'all is well' },
    { name: '500', behaviour: { kind: 'status', status: 500, times: 2 } },
    { name: '429', behaviour: { kind: 'status', status: 429, retryAfter: 1, times: 2 } },
    { name: '403', behaviour: { kind: 'status', status: 403, retryAfter: 1, times: 1 } },
    { name: '401', behaviour: { kind: 'unauthorized' } },
    { name: 'hangs', behaviour: { kind: 'hang', times: 1 } },
    { name: 'refuses', begin: () => standIn.refuse(2000) },
    { name: 'closes untaken', behaviour: { kind: 'close-untaken', times: 1 } },
    { name: 'closes before the answer', behaviour: { kind: 'close-unanswered', times: 1 } },
    { name: 'closes after the status line', behaviour: { kind: 'close-after-status', times: 1 } },
    {
      name: 'the worker is killed in the middle of an offer',
      behaviour: { kind: 'slow', delayMs: 1500 },
      async end() {
        await until('an offer is under way', async () => standIn.underWay() > 0);
        await stack.killWorker();
        standIn.behave();
        await stack.startWorker();
      },
    },
    {
      name: 'the gateway is killed',
      async end() {
        await stack.killGateway();
        await stack.startGateway();
      },
    },
    {
      name: 'Temporal is away',
      begin: () => temporalLine.cut(),
      end: () => temporalLine.restore(),
    },
  ];
}

function uuidsOf(push: PushRecord): string[] {
  return push.items.map((item) => (item as { uuid: string }).uuid);
}

export function distinct(pushes: readonly PushRecord[]): Set<string> {
  return new Set(pushes.flatMap(uuidsOf));
}

/**
 * All of it, in order, nothing else, and twice only where no answer could have reached us: none left, or the worker
 * that it went to was killed before the second offer. (That no mark had been set by then, `compareMarks` shows.)
 * @param workerKills milliseconds since 1970
 */
export function compare(
  received: readonly PushRecord[],
  expected: readonly string[],
  workerKills: readonly number[] = [],
): string[] {
  const killedBetween = (one: PushRecord, other: PushRecord): boolean =>
    workerKills.some((at) => Date.parse(one.at) <= at && at <= Date.parse(other.at));
  const faults: string[] = [];
  const firstArrivals = [...distinct(received)];
  const watcher = received[0]?.watcher;
  if (JSON.stringify(firstArrivals) !== JSON.stringify(expected))
    faults.push(
      `${watcher}: ${firstArrivals.length} arrived, not the ${expected.length} expected ones in order`,
    );
  const offered = new Map<string, PushRecord>();
  for (const push of received)
    for (const uuid of uuidsOf(push)) {
      const before = offered.get(uuid);
      if (before !== undefined) {
        if (before.answered !== null && !killedBetween(before, push))
          faults.push(`${watcher}: ${uuid} was sent again at ${push.at} after a 2xx at ${before.at}`);
        if (before.sha256 !== push.sha256) faults.push(`${watcher}: ${uuid} was repeated in other bytes`);
      }
      offered.set(uuid, push);
    }
  return faults;
}

/** Every alert that CAPI has is marked, none before CAPI took it, and no filtered one. */
export async function compareMarks(stack: RunningStack, received: readonly PushRecord[]): Promise<string[]> {
  const takenAt = new Map<string, number>();
  for (const push of received)
    if (push.answered !== null) for (const uuid of uuidsOf(push)) takenAt.set(uuid, Date.parse(push.at));
  const faults: string[] = [];
  await until(
    'every arrived signal is marked',
    async () => (await stack.proxy.summaries()).every((queue) => queue.waiting === 0),
    { withinMs: 60_000 },
  ).catch((error: unknown) => faults.push(String(error)));
  for await (const alert of stack.proxy.everyAlert()) {
    const at = takenAt.get(alert.uuid ?? '');
    if (alert.forwardedToCapi !== (at !== undefined)) faults.push(`${alert.uuid} is marked wrongly`);
    if (alert.filtered === true && at !== undefined) faults.push(`${alert.uuid} was filtered and sent`);
    // Both clocks are of this machine.
    if (at !== undefined && Date.parse(alert.forwardedAt ?? '') < at)
      faults.push(`${alert.uuid} was marked too early`);
  }
  return faults;
}
