import type { z } from 'zod';
import type { EmbedderSwap as EmbedderSwapBody } from '../../schemas/documents/embedder-swaps-api.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import { askStack } from './ask-stack.js';
import type { Corpus } from './campaign-corpus.js';
import { changingFiles, chatFault } from './changing-files.js';
import { gatewayKills } from './gateway-kills.js';
import { sweptUp } from './kill-tools.js';
import type { RunningStack } from './running-stack.js';
import { seededRandom } from './seeded-random.js';
import { until } from './until.js';

type EmbedderSwap = z.output<typeof EmbedderSwapBody>;

export const PARTITION = 'mills';

export interface SwapReport {
  files: number;
  chunks: number;
  /** Who was killed, in order. */
  kills: readonly Killed[];
  seconds: number;
  searches: number;
  /** Searches that answered with the old embedder, and with the new one. */
  answeredBy: Record<string, number>;
  chats: number;
  changes: number;
  /** Requests that were sent again, because a killed gateway had not answered them. */
  repeated: number;
  /** nDCG@10 of the search route before and after; null where nothing is judged. */
  ndcg: { before: number | null; after: number | null };
  swap: EmbedderSwap;
  faults: string[];
}

export type Killed = 'worker' | 'gateway';

interface Answer {
  documents: { metadata: Record<string, unknown> }[];
  retrieval_trace: { groups: { embedder: string }[] };
}

export function swapClient(stack: Pick<RunningStack, 'request'>) {
  const path = `/partition/${PARTITION}/embedder-swap`;
  const ask = <T>(method: string, at: string, body?: object) => askStack<T>(stack, method, at, body);
  return {
    ask,
    /** Registers an embedder behind a model server. */
    async register(name: string, url: string): Promise<void> {
      const answer = await ask('POST', '/model-endpoints/', {
        name,
        model_type: 'embedder',
        endpoint: url,
        model_name: 'scripted-embedder',
        batch_size: 4,
      });
      if (answer.status !== 201) throw new Error(`${name} was not registered: ${JSON.stringify(answer)}`);
    },
    async start(body: object): Promise<void> {
      const answer = await ask('POST', path, body);
      if (answer.status !== 202) throw new Error(`the swap was not started: ${JSON.stringify(answer)}`);
    },
    latest: async (): Promise<EmbedderSwap | null> => (await ask<EmbedderSwap | null>('GET', path)).body,
    ended: (): Promise<EmbedderSwap> =>
      until(
        'the swap has ended',
        async () => {
          const { body } = await ask<EmbedderSwap | null>('GET', path).catch(() => ({ body: null }));
          return body !== null && body.status !== 'running' && body;
        },
        { withinMs: 900_000, everyMs: 100 },
      ),
  };
}

/**
 * A partition moved to another embedder while it is searched and asked, files come, change and go, and worker and
 * gateway are killed: no search fails, each is answered by one embedder, none by the old one after the first by the
 * new, and in the end every live chunk has a vector of the new one. Clients send again only what a killed gateway has
 * not answered.
 */
export async function swapUnderLoad(
  stack: RunningStack,
  {
    corpus,
    target,
    kills: wanted,
    gate = {},
    afterKills,
  }: {
    corpus: Corpus;
    target: string;
    kills: readonly Killed[];
    gate?: object;
    /** A swap that is to be killed is held up; from here on it need not be. */
    afterKills?: () => void;
  },
): Promise<SwapReport> {
  const faults: string[] = [];
  const gateway = gatewayKills(stack);
  const client = swapClient(gateway.client());
  const files = changingFiles(gateway.client(), {
    partition: PARTITION,
    faults,
    name: `changing-to-${target}`,
  });
  const source = (await stack.adapters.partitions.get(PARTITION))!.embedder;
  const ndcgBefore = await corpus.ndcg(stack, PARTITION);
  let loading = true;
  let chats = 0;
  const answeredBy: Record<string, number> = {};
  const questionAt = (turn: number) => corpus.questions[turn % corpus.questions.length]!;

  const searching = async (): Promise<void> => {
    const own = gateway.client();
    for (let turn = 0; loading; turn += 1) {
      const text = questionAt(turn);
      const query = new URLSearchParams({ text, top_k: '5', include_retrieval_trace: 'true' }).toString();
      const path = `/search/partition/${PARTITION}?${query}`;
      const { status, body } = await askStack<Answer>(own, 'GET', path);
      if (status !== 200) {
        faults.push(`a search answered ${status} ${JSON.stringify(body).slice(0, 300)}`);
        continue;
      }
      const [group, ...more] = body.retrieval_trace.groups;
      if (group === undefined || more.length > 0) faults.push(`a search of ${more.length + 1} embedders`);
      if (body.documents.length === 0) faults.push(`nothing was found for ${text}`);
      const name = group?.embedder ?? '';
      if (name === source && (answeredBy[target] ?? 0) > 0) faults.push('the old embedder came back');
      answeredBy[name] = (answeredBy[name] ?? 0) + 1;
    }
  };
  const chatting = async (): Promise<void> => {
    const own = gateway.client();
    for (; loading; chats += 1) {
      const fault = await chatFault(own, PARTITION, questionAt(chats));
      if (fault !== null) faults.push(fault);
    }
  };
  const changing = async (): Promise<void> => {
    while (loading) await files.change();
  };

  const load = Promise.all([searching(), chatting(), changing()]).catch((error: unknown) => {
    faults.push(`the load ended: ${String(error)}`);
  });
  const began = performance.now();
  await client.start({ embedder: target, ...gate });
  const kills: Killed[] = [];
  const random = seededRandom(3);
  let seen = 0;
  for (const killed of wanted) {
    const swap = await until(
      'the swap goes on',
      async () => {
        const found = await client.latest();
        return found !== null && (found.status !== 'running' || found.files_done > seen) && found;
      },
      { withinMs: 120_000 },
    );
    if (swap.status !== 'running') break;
    seen = swap.files_done;
    await new Promise((resolve) => setTimeout(resolve, random() * 300));
    if (killed === 'gateway') await gateway.kill();
    else {
      await stack.killWorker();
      await stack.startWorker();
    }
    kills.push(killed);
  }
  afterKills?.();
  const swap = await client.ended();
  const seconds = (performance.now() - began) / 1000;
  const before = answeredBy[target] ?? 0;
  if (swap.status === 'completed')
    await until('the new embedder answers', async () => (answeredBy[target] ?? 0) > before + 3);
  loading = false;
  await load;
  await files.verify();
  const ends = swap.status === 'completed' ? target : source;
  const { files: live, chunks, missing } = await countVectors(stack, ends);
  if (missing > 0) faults.push(`${missing} of ${chunks} live chunks have no vector of ${ends}`);
  const embedders = await stack.adapters.files.countEmbedders(PARTITION);
  if (embedders.size !== 1 || !embedders.has(ends))
    faults.push(`files are of ${JSON.stringify([...embedders])}`);
  await files.clear();
  for (const drift of await sweptUp(stack)) faults.push(JSON.stringify(drift));
  return {
    files: live,
    chunks,
    kills,
    seconds,
    searches: Object.values(answeredBy).reduce((sum, count) => sum + count, 0),
    answeredBy,
    chats,
    changes: files.count(),
    repeated: gateway.repeated(),
    ndcg: { before: ndcgBefore, after: await corpus.ndcg(stack, PARTITION) },
    swap,
    faults,
  };
}

/** The live files of a partition with the ids of their chunks. */
export async function liveChunks(stack: RunningStack, partition: string): Promise<{ ids: string[] }[]> {
  const live = await stack.adapters.files.listLive({ kind: 'all', userId: 0 }, partition);
  return live.map(({ file_key, live: version }) => ({
    ids: Array.from({ length: version!.chunk_count }, (_, position) =>
      chunkId(file_key, version!.generation, position),
    ),
  }));
}

/** How many live chunks there are, and how many of them have no vector of an embedder. */
async function countVectors(stack: RunningStack, name: string) {
  const { chunks, models } = stack.adapters;
  const { vectorField } = await models.embedder(name);
  const live = await liveChunks(stack, PARTITION);
  let [total, found] = [0, 0];
  for (const { ids } of live) {
    total += ids.length;
    found += (await chunks.getVectors(ids, vectorField)).size;
  }
  return { files: live.length, chunks: total, missing: total - found };
}
