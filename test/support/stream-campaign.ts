import { readdir } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { hashVector } from '../../activities/models/builtin/hash-vector.js';
import type { InstantModelServer } from '../bench/instant-model-server.js';
import { seedChunks } from '../bench/seed-chunks.js';
import { liveHeapMb } from './live-heap.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

const PARTITION = 'streams';
const QUESTION = 'What is said about the boundary layer?';

/** What a model server of words makes of 60 of them. */
const WORDS = 60;

/** Streams that are not counted: with them the gateway loads and compiles what a stream takes. */
const WARM_UP = 60;

/** Open files and sockets of a process; 0 where the system does not tell. */
async function descriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;
}

/** One fault of a stream that was read to its end; null when it is as the contract says. */
function faultIn(received: string): string | null {
  const events = received.replace(/^:[^\n]*\n\n/gm, '').split('\n\n');
  if (events.pop() !== '' || events.pop() !== 'data: [DONE]') return `no end: ${received.slice(-200)}`;
  let answer = '';
  let finishes = 0;
  for (const event of events) {
    if (!/^data: \{[^\n]*\}$/.test(event)) return `no event: ${event.slice(0, 200)}`;
    const chunk = JSON.parse(event.slice(6)) as {
      error?: unknown;
      choices: { delta: { content?: string }; finish_reason: string | null }[];
      extra: { presented_sources?: unknown[] };
    };
    if (chunk.error !== undefined) return `an error: ${event}`;
    answer += chunk.choices[0]?.delta.content ?? '';
    if (chunk.choices[0]?.finish_reason == null) continue;
    finishes += 1;
    if (chunk.extra.presented_sources?.length === 0) return 'no sources';
  }
  const words = answer.trim().split(' ').length;
  return finishes === 1 && words === WORDS ? null : `${finishes} finishes, ${words} words`;
}

/**
 * Streams from several clients at once, half of them given up at random: before the first byte, or after some of it.
 * Every one that is read on must be whole; afterwards no generation of the model and no connection of them may be left.
 *
 * @param options.inspectorPort where the gateway's inspector opens (see `inspectable`)
 * @returns what was found at fault, and what the gateway holds on to before those counted and after them, in MB
 */
export async function runStreamCampaign(
  stack: RunningStack,
  models: Pick<InstantModelServer, 'streaming'>,
  options: { streams: number; clients: number; inspectorPort: number },
): Promise<{
  faults: string[];
  completed: number;
  left: number;
  liveMb: { early: number; late: number };
}> {
  await stack.adapters.partitions.create({ partition: PARTITION, embedder: 'builtin-hash', ownerId: 1 });
  await seedChunks(stack, {
    partition: PARTITION,
    embedderName: 'builtin-hash',
    chunks: 100,
    embed: hashVector,
  });
  const agent = new Agent({ connections: options.clients });
  const pid = stack.gatewayPid();
  const live = (): Promise<number> => liveHeapMb(pid, options.inspectorPort);
  const faults: string[] = [];
  let completed = 0;
  let left = 0;

  const one = async (leaves: boolean): Promise<void> => {
    const client = new AbortController();
    const early = leaves && Math.random() < 0.3;
    if (early) setTimeout(() => client.abort(), Math.random() * 60);
    const leaveAfter = leaves ? Math.random() * 8000 : Infinity;
    try {
      const { statusCode, body } = await request(`${stack.base}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        signal: client.signal,
        headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: `rag-${PARTITION}`,
          stream: true,
          messages: [{ role: 'user', content: QUESTION }],
        }),
      });
      let received = '';
      for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
        received += chunk;
        if (received.length > leaveAfter) client.abort();
      }
      if (statusCode !== 200) faults.push(`answered ${statusCode} ${received.slice(0, 300)}`);
      else {
        const fault = faultIn(received);
        if (fault !== null) faults.push(fault);
        completed += 1;
      }
    } catch (error) {
      if (!client.signal.aborted) faults.push(`broke: ${String(error)}`);
      else left += 1;
    }
  };

  const run = async (count: number): Promise<void> => {
    let started = 0;
    const client = async (): Promise<void> => {
      while (started < count) await one(started++ % 2 === 1);
    };
    await Promise.all(Array.from({ length: options.clients }, client));
  };

  const settle = async (): Promise<void> => {
    await until('no generation of the model is left', async () => models.streaming() === 0, {
      withinMs: 20_000,
    });
  };

  try {
    // After a few streams the gateway sometimes held 18 MB less than after sixty, in which nothing had leaked.
    await run(WARM_UP);
    completed = left = 0;
    await settle();
    const before = { live: await live(), descriptors: await descriptors(pid) };
    await run(options.streams);
    await settle();
    await agent.close();
    // Connections to the engines come and go by themselves; those of the streams must be gone.
    const most = before.descriptors + 20;
    await until(`at most ${most} descriptors are open`, async () => (await descriptors(pid)) <= most, {
      withinMs: 30_000,
    });
    return { faults, completed, left, liveMb: { early: before.live, late: await live() } };
  } finally {
    await agent.destroy();
  }
}
