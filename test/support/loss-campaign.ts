import type { Behaviour } from '../../deploy/stand-in-capi/behaviour.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { CutLine } from './cut-line.js';
import { compare, compareMarks, distinct } from './outage-campaign.js';
import type { RunningStack } from './running-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';
import { forwardWorkflowId } from '../../schemas/ids.js';

export interface LossReport {
  /** Broken promises: empty when all went well. */
  faults: string[];
  pushed: number;
  filtered: number;
  arrived: number;
  /** Pushes that were made again because MongoDB was cut off and nothing was promised. */
  pushedAgain: number;
  repeats: number;
  logins: number;
  /** The slowest answer to a push while MongoDB was up, in milliseconds. */
  slowestMs: number;
  /** What was going on when the slowest push began, and when it ended. */
  slowestDuring: string;
  /** What was done to the stack, in order. */
  events: string[];
}

interface LossCampaign {
  stack: RunningStack;
  standIn: StandInCapi;
  lines: { temporal: CutLine; mongo: CutLine };
  watchers: number;
  signals: number;
  /** At least so many things are done to the stack; there are six kinds. */
  events: number;
  seed: number;
}

const BATCH = 10;
const INTERNAL = { scope: 'Ip', value: '10.1.2.3', ip: '10.1.2.3' };

/** mulberry32: the same seed makes the same campaign. */
function randomFrom(seed: number) {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const BEHAVIOURS: readonly Behaviour[] = [
  { kind: 'status', status: 500, times: 3 },
  { kind: 'status', status: 429, retryAfter: 1, times: 2 },
  { kind: 'status', status: 403, retryAfter: 1, times: 1 },
  { kind: 'unauthorized' },
  { kind: 'hang', times: 1 },
  { kind: 'close-untaken', times: 2 },
  { kind: 'close-unanswered', times: 2 },
  { kind: 'close-after-status', times: 2 },
];

/**
 * Watchers push without a pause while a seeded sequence of faults goes over CAPI, gateway, worker and the lines to
 * MongoDB and Temporal. A push is made again only when it was not answered, or while MongoDB was cut off. At the end
 * CAPI holds exactly what the rules let through.
 */
export async function runLossCampaign(campaign: LossCampaign): Promise<LossReport> {
  const { stack, standIn, lines } = campaign;
  const random = randomFrom(campaign.seed);
  const report: LossReport = {
    faults: [],
    pushed: 0,
    filtered: 0,
    arrived: 0,
    pushedAgain: 0,
    repeats: 0,
    logins: 0,
    slowestMs: 0,
    slowestDuring: '',
    events: [],
  };
  const clients = Array.from({ length: campaign.watchers }, (_, index) =>
    signalClient(stack.base, `losswatcher${index}`),
  );
  await Promise.all(clients.map((client) => client.login()));
  const expected = new Map<string, string[]>(clients.map((client) => [client.machineId, []]));
  /** Counts up whenever MongoDB or the gateway goes or comes: a push across such a moment has no fixed answer. */
  let disturbed = 0;
  let disturbing = false;
  const workerKills: number[] = [];

  const pushOne = async (client: (typeof clients)[number], signals: object[]): Promise<void> => {
    for (;;) {
      const before = disturbed;
      const calm = !disturbing;
      const from = performance.now();
      const going = `after event ${report.events.length}: ${report.events.at(-1) ?? 'none'}`;
      const answer = await client.push(signals).catch(() => null);
      await answer?.arrayBuffer().catch(() => null);
      const undisturbed = calm && before === disturbed;
      const taken = performance.now() - from;
      if (undisturbed && taken > report.slowestMs)
        Object.assign(report, {
          slowestMs: taken,
          slowestDuring: `${going}; answered at ${new Date().toISOString()}`,
        });
      if (answer?.status === 401) {
        report.logins += 1;
        await until(
          'a login',
          async () =>
            client.login().then(
              () => true,
              () => false,
            ),
          { withinMs: 60_000 },
        );
      }
      if (answer?.status === 200 || answer?.status === 401) return;
      // More at once than this machine stores in a second: told so at once, a LAPI keeps them and comes again.
      const comeAgain = answer?.status === 503 ? answer.headers.get('Retry-After') : null;
      if (comeAgain !== null) await pause(Number(comeAgain) * 1000);
      else if (undisturbed) report.faults.push(`a push was answered ${answer?.status ?? 'with nothing'}`);
      // Not promised: the same signals again, which must not make them two.
      report.pushedAgain += 1;
      await until('the gateway takes pushes', async () => !disturbing, { withinMs: 60_000 });
    }
  };

  const drive = async (client: (typeof clients)[number], count: number): Promise<void> => {
    const pushes = Math.ceil(count / BATCH);
    for (let left = count; left > 0; left -= BATCH) {
      // Spread over all events: what is pushed before or after them proves nothing.
      const due = Math.floor(((count - left) / BATCH / pushes) * campaign.events);
      await until('its turn', async () => report.events.length >= due, { withinMs: 600_000 });
      const signals = Array.from({ length: Math.min(BATCH, left) }, (_, index) =>
        sampleSignal(index, index % 5 === 4 ? { source: INTERNAL } : {}),
      );
      const passed = signals.filter((signal) => signal.source !== INTERNAL);
      expected.get(client.machineId)!.push(...passed.map(({ uuid }) => uuid));
      report.pushed += signals.length;
      report.filtered += signals.length - passed.length;
      await pushOne(client, signals);
    }
  };

  const disturb = async (work: () => Promise<void>): Promise<void> => {
    disturbing = true;
    disturbed += 1;
    await work().finally(() => {
      disturbing = false;
    });
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const events: (() => Promise<string>)[] = [
    async () => {
      const behaviour = BEHAVIOURS[Math.floor(random() * BEHAVIOURS.length)]!;
      standIn.behave(behaviour);
      return `CAPI: ${JSON.stringify(behaviour)}`;
    },
    async () => {
      await standIn.refuse(200 + random() * 800);
      return 'CAPI refuses';
    },
    async () => {
      workerKills.push(Date.now());
      await stack.killWorker();
      await stack.startWorker();
      return 'the worker was killed';
    },
    async () => {
      await disturb(async () => {
        await stack.killGateway();
        await stack.startGateway();
      });
      return 'the gateway was killed';
    },
    async () => {
      const ms = 200 + random() * 800;
      await lines.temporal.cut();
      await pause(ms);
      await lines.temporal.restore();
      return 'Temporal was cut off';
    },
    async () => {
      const ms = 100 + random() * 400;
      await disturb(async () => {
        await lines.mongo.cut();
        await pause(ms);
        await lines.mongo.restore();
        await until(
          'the gateway has its store back',
          // An empty push would not do: it asks nothing of the store.
          async () => (await listAlerts(stack).catch(() => null))?.status === 200,
          { withinMs: 60_000 },
        );
      });
      return 'MongoDB was cut off';
    },
  ];

  let pushing = true;
  const driving = Promise.all(
    clients.map((client) => drive(client, Math.ceil(campaign.signals / campaign.watchers))),
  ).finally(() => {
    pushing = false;
  });
  // Each kind in turn, in a seeded order that differs from round to round.
  let order: typeof events = [];
  while (report.events.length < campaign.events || pushing) {
    if (order.length === 0) order = [...events].sort(() => random() - 0.5);
    report.events.push(await order.shift()!());
    await pause(50 + random() * 200);
  }
  await driving;
  standIn.behave();
  await standIn.listen();

  const wanted = [...expected.values()].reduce((sum, uuids) => sum + uuids.length, 0);
  await until(
    'everything has arrived',
    async () => {
      // A watcher whose token was refused logs in at its next push.
      for (const client of clients) await pushOne(client, []);
      return distinct(standIn.received()).size >= wanted;
    },
    { withinMs: 180_000, everyMs: 1000 },
  ).catch(async (error: unknown) => {
    report.faults.push(String(error), ...(await standing(stack)));
  });
  report.arrived = distinct(standIn.received()).size;
  report.repeats = standIn.received().length - new Set(standIn.received().map(({ sha256 }) => sha256)).size;
  for (const client of clients)
    report.faults.push(
      ...compare(standIn.received(client.machineId), expected.get(client.machineId)!, workerKills),
    );
  report.faults.push(...(await compareMarks(stack, standIn.received())));
  return report;
}

/** What the actors of those watchers say whose signals still wait. */
async function standing(stack: RunningStack): Promise<string[]> {
  const waiting = (await stack.proxy.summaries()).filter((queue) => queue.waiting > 0);
  return Promise.all(
    waiting.map(async (queue) => {
      const id = forwardWorkflowId(stack.config.temporal.prefix, queue.watcher);
      const handle = stack.temporal.workflow.getHandle(id);
      const [view, record] = await Promise.all([
        handle.query('forwardingStatus').catch(String),
        stack.adapters.proxy!.watchers.get(queue.watcher),
      ]);
      return JSON.stringify({ waiting: queue.waiting, view, record });
    }),
  );
}

async function listAlerts(stack: RunningStack): Promise<Response> {
  const response = await fetch(`${stack.base}/api/alerts?limit=1`, {
    headers: { 'x-api-key': stack.config.proxy.dashboardApiKey ?? '' },
    signal: AbortSignal.timeout(10_000),
  });
  await response.arrayBuffer();
  return response;
}
