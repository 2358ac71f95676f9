import { Agent, request } from 'node:http';
import { sampleSignal } from './signal-client.js';

export interface OverloadReport {
  /** Pushes a second that were stored while a few clients pushed one after the other. */
  sustainable: number;
  offeredPerSecond: number;
  accepted: number;
  refused: number;
  /** Pushes that were answered with anything else, or not at all. */
  other: Record<string, number>;
  acceptedPerSecond: number;
  acceptedMs: { p50: number; p99: number; slowest: number };
  refusedMs: { p50: number; p99: number; slowest: number };
  healthMs: { slowest: number };
}

const BATCH = 50;
/** That push one after the other, for the rate that can be sustained. */
const CLIENTS = 8;

/** At the pace of a clock, whatever is answered: as many LAPIs push that know nothing of each other. */
export async function runOverloadCampaign(
  { base, tokens }: { base: string; tokens: readonly string[] },
  { times, measureSeconds, seconds }: { times: number; measureSeconds: number; seconds: number },
): Promise<OverloadReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  let made = 0;
  const bodies = Array.from({ length: 64 }, () =>
    JSON.stringify(Array.from({ length: BATCH }, (_, i) => sampleSignal(i))),
  );
  /** Of the same size as every other and yet new: signals are told apart by their uuid. */
  const nextBody = (): string => {
    made += 1;
    return bodies[made % bodies.length]!.replaceAll(
      /("uuid":")[0-9a-f]{8}/g,
      `$1${made.toString(16).padStart(8, '0')}`,
    );
  };

  const send = (method: string, path: string, body?: string): Promise<{ status: number; ms: number }> =>
    new Promise((resolve) => {
      const from = performance.now();
      const token = tokens[made % tokens.length]!;
      const headers = {
        Authorization: `Bearer ${token}`,
        ...(body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      };
      const sent = request(`${base}${path}`, { method, agent, headers }, (answer) => {
        const ms = performance.now() - from;
        answer.resume();
        answer.on('close', () => resolve({ status: answer.statusCode ?? 0, ms }));
      });
      // A refusal may come while the body goes out.
      sent.on('error', () => resolve({ status: 0, ms: performance.now() - from }));
      sent.end(body);
    });
  const push = () => send('POST', '/v3/signals', nextBody());

  const measure = async (): Promise<number> => {
    let stored = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (performance.now() - began < measureSeconds * 1000)
          if ((await push()).status === 200) stored += 1;
      }),
    );
    return stored / ((performance.now() - began) / 1000);
  };

  try {
    // Once for the compiler and the caches, once for the figure.
    await measure();
    const sustainable = await measure();
    const offered = Math.ceil(sustainable * times * seconds);
    const answers: Promise<{ status: number; ms: number }>[] = [];
    const health: Promise<{ status: number; ms: number }>[] = [];
    const began = performance.now();
    while (answers.length < offered) {
      const due = Math.min(offered, ((performance.now() - began) / 1000) * sustainable * times);
      while (answers.length < due) answers.push(push());
      if (health.length < (performance.now() - began) / 100) health.push(send('GET', '/health_check'));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const all = await Promise.all(answers);
    const tookSeconds = (performance.now() - began) / 1000;
    const timesOf = (wanted: number): number[] =>
      all.flatMap(({ status, ms }) => (status === wanted ? [ms] : [])).sort((one, other) => one - other);
    const [accepted, refused] = [timesOf(200), timesOf(503)];
    const other: Record<string, number> = {};
    for (const { status } of all)
      if (status !== 200 && status !== 503) other[status] = (other[status] ?? 0) + 1;
    return {
      sustainable: Math.round(sustainable),
      offeredPerSecond: Math.round(sustainable * times),
      accepted: accepted.length,
      refused: refused.length,
      other,
      acceptedPerSecond: Math.round(accepted.length / tookSeconds),
      acceptedMs: spread(accepted),
      refusedMs: spread(refused),
      healthMs: { slowest: Math.round(Math.max(...(await Promise.all(health)).map(({ ms }) => ms))) },
    };
  } finally {
    agent.destroy();
  }
}

function spread(sorted: readonly number[]) {
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { p50: at(0.5), p99: at(0.99), slowest: at(1) };
}
