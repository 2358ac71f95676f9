import type { z } from 'zod';
import type { EmbedderSwap as EmbedderSwapBody } from '../../schemas/documents/embedder-swaps-api.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import { askStack } from './ask-stack.js';
import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import { remainingDrift } from './remaining-drift.js';
import type { RunningStack } from './running-stack.js';
import { seededRandom } from './seeded-random.js';
import { until } from './until.js';

type EmbedderSwap = z.output<typeof EmbedderSwapBody>;

export const PARTITION = 'mills';
const OLD = 'builtin-hash';
const QUESTIONS = ['the keeper of the tide mill', 'lamp and harbour', 'cog rope bell', 'grain gate eel'];

export interface SwapReport {
  files: number;
  chunks: number;
  kills: number;
  seconds: number;
  searches: number;
  /** Searches that answered with the old embedder, and with the new one. */
  answeredBy: Record<string, number>;
  changes: number;
  swap: EmbedderSwap;
  faults: string[];
}

interface Answer {
  documents: { metadata: Record<string, unknown> }[];
  retrieval_trace: { groups: { embedder: string }[] };
}

export function swapClient(stack: RunningStack) {
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
 * A partition moved to another embedder while it is searched, files come, change and go, and the worker is killed: no
 * search fails, each is answered by one embedder, none by the old one after the first by the new, and in the end
 * every live chunk has a vector of the new one.
 */
export async function swapUnderLoad(
  stack: RunningStack,
  { target, kills: wanted, minKnownItem }: { target: string; kills: number; minKnownItem?: number },
): Promise<SwapReport> {
  const faults: string[] = [];
  const client = swapClient(stack);
  const documents = documentClient(stack);
  let loading = true;
  let changes = 0;
  const answeredBy: Record<string, number> = {};

  const searching = async (): Promise<void> => {
    for (let turn = 0; loading; turn += 1) {
      const text = QUESTIONS[turn % QUESTIONS.length]!;
      const query = new URLSearchParams({ text, top_k: '5', include_retrieval_trace: 'true' }).toString();
      const { status, body } = await client.ask<Answer>('GET', `/search/partition/${PARTITION}?${query}`);
      if (status !== 200) {
        faults.push(`a search answered ${status} ${JSON.stringify(body).slice(0, 300)}`);
        continue;
      }
      const [group, ...more] = body.retrieval_trace.groups;
      if (group === undefined || more.length > 0) faults.push(`a search of ${more.length + 1} embedders`);
      if (body.documents.length === 0) faults.push(`nothing was found for ${text}`);
      const name = group?.embedder ?? '';
      if (name === OLD && (answeredBy[target] ?? 0) > 0) faults.push('the old embedder came back');
      answeredBy[name] = (answeredBy[name] ?? 0) + 1;
    }
  };

  const changing = async (): Promise<void> => {
    const random = seededRandom(13);
    for (let turn = 0; loading; turn += 1) {
      const fileId = `g-${Math.floor(random() * 6)}`;
      const path = `/indexer/partition/${PARTITION}/file/${fileId}`;
      const present = (await stack.request(`/partition/${PARTITION}/file/${fileId}`)).status === 200;
      if (present && random() < 0.4) {
        const { status } = await stack.request(path, { method: 'DELETE' });
        if (status >= 400) faults.push(`DELETE answered ${status}`);
        changes += 1;
        continue;
      }
      if (present && random() < 0.3) {
        const form = new FormData();
        form.set('metadata', JSON.stringify({ turn }));
        const { status } = await stack.request(path, { method: 'PATCH', body: form });
        if (status >= 400) faults.push(`PATCH answered ${status}`);
        changes += 1;
        continue;
      }
      const text = generatedText(10_000 + turn, 6);
      const response = await documents.send(present ? 'PUT' : 'POST', PARTITION, fileId, text, 'g.txt');
      const body = (await response.json()) as { task_status_url?: string };
      if (body.task_status_url === undefined) faults.push(`an upload answered ${response.status}`);
      else {
        const { task_state: state, error } = await documents.ended(body.task_status_url);
        if (state !== 'COMPLETED') faults.push(`a task ended ${state}: ${JSON.stringify(error)}`);
      }
      changes += 1;
    }
  };

  const load = Promise.all([searching(), changing()]).catch((error: unknown) => {
    faults.push(`the load ended: ${String(error)}`);
  });
  const began = performance.now();
  await client.start({
    embedder: target,
    ...(minKnownItem === undefined ? {} : { min_known_item: minKnownItem }),
  });
  let kills = 0;
  const random = seededRandom(3);
  for (let seen = 0; kills < wanted; kills += 1) {
    const swap = await until('the swap goes on', async () => {
      const found = await client.latest();
      return found !== null && (found.status !== 'running' || found.files_done > seen) && found;
    });
    if (swap.status !== 'running') break;
    seen = swap.files_done;
    await new Promise((resolve) => setTimeout(resolve, random() * 300));
    await stack.killWorker();
    await stack.startWorker();
  }
  const swap = await client.ended();
  const seconds = (performance.now() - began) / 1000;
  const before = answeredBy[target] ?? 0;
  if (swap.status === 'completed')
    await until('the new embedder answers', async () => (answeredBy[target] ?? 0) > before + 3);
  loading = false;
  await load;
  const { files, chunks, missing } = await countVectors(stack, target);
  if (missing > 0) faults.push(`${missing} of ${chunks} live chunks have no vector of ${target}`);
  const embedders = await stack.adapters.files.countEmbedders(PARTITION);
  if (embedders.size !== 1 || !embedders.has(target))
    faults.push(`files are of ${JSON.stringify([...embedders])}`);
  for (const drift of await remainingDrift(stack)) faults.push(JSON.stringify(drift));
  const searches = Object.values(answeredBy).reduce((sum, count) => sum + count, 0);
  return { files, chunks, kills, seconds, searches, answeredBy, changes, swap, faults };
}

/** How many live chunks there are, and how many of them have no vector of an embedder. */
async function countVectors(stack: RunningStack, name: string) {
  const { files, chunks, models } = stack.adapters;
  const { vectorField } = await models.embedder(name);
  const live = await files.listLive({ kind: 'all', userId: 0 }, PARTITION);
  let [total, found] = [0, 0];
  for (const { file_key, live: version } of live) {
    const ids = Array.from({ length: version!.chunk_count }, (_, position) =>
      chunkId(file_key, version!.generation, position),
    );
    total += ids.length;
    found += (await chunks.getVectors(ids, vectorField)).size;
  }
  return { files: live.length, chunks: total, missing: total - found };
}
