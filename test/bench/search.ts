/**
 * `npm run bench:search`: how long a search takes among 50,000 chunks of 384 dimensions, through the gateway and as the
 * same `_msearch` sent straight to OpenSearch in the same run.
 */
import { Agent, request } from 'undici';
import type { Scope } from '../../schemas/documents/users.js';
import { parseFilter } from '../../activities/retrieval/filter/parse-filter.js';
import { SOURCE_FIELDS } from '../../activities/stores/opensearch/chunk-document.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { bestHits } from '../../activities/stores/opensearch/best-hits.js';
import { denseQuery, lexicalQuery } from '../../activities/stores/opensearch/hybrid-query.js';
import { countedClauses, questionWords } from '../../activities/stores/opensearch/question-words.js';
import { createTermCounter } from '../../activities/stores/opensearch/term-weights.js';
import { openInstantStack } from './open-bench-stack.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { askInTurn } from './ask-in-turn.js';
import { reportBench } from './bench-report.js';
import { cranfield, piaf } from './collection.js';
import { openInstantModelServer } from './instant-model-server.js';
import { seedChunks } from './seed-chunks.js';

const CHUNKS = Number(process.env['BENCH_CHUNKS'] ?? 50_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
/** Turns of each kind within its seconds. */
const ROUNDS = 4;
const PARTITION = 'bench';
const EMBEDDER = 'default';
/** A tenth of the files. */
const FILTER = 'shelf == "shelf-3"';

/** What an answer is made of; the gateway ranks without it, and reads it of what it answers. */
const WHOLE = { _source: SOURCE_FIELDS, stored_fields: undefined, docvalue_fields: undefined };

const agent = new Agent({ connections: 64 });
const models = await openInstantModelServer({ dimension: 384 });
const stack = await openInstantStack(models);
const rows: Record<string, string | number>[] = [];
try {
  await stack.startGateway();
  await stack.adapters.partitions.create({ partition: PARTITION, embedder: EMBEDDER, ownerId: 1 });
  const began = performance.now();
  await seedChunks(stack, {
    partition: PARTITION,
    embedderName: EMBEDDER,
    chunks: CHUNKS,
    embed: models.embed,
  });
  process.stderr.write(`${CHUNKS} chunks in ${Math.round((performance.now() - began) / 1000)} s\n`);

  const index = `${stack.config.opensearch.indexPrefix}chunks`;
  const engine = connectOpenSearch({ url: stack.config.opensearch.url });
  const counter = createTermCounter(engine.client, index);
  const { vectorField } = await stack.adapters.models.embedder(EMBEDDER);
  const texts = [...cranfield().queries, ...piaf().queries].map(({ text }) => text);
  const vectors = new Map(texts.map((text) => [text, models.embed(text)]));

  type Legs = 'lexical' | 'dense';
  const raw =
    (legs: readonly Legs[], { filter, texts: whole = true }: { filter?: string; texts?: boolean } = {}) =>
    async (text: string): Promise<void> => {
      const asked = {
        scope: { kind: 'partitions', userId: 1, roles: { [PARTITION]: 'owner' } } as Scope,
        partitions: [PARTITION],
        text,
        vector: vectors.get(text)!,
        vectorField,
        size: stack.config.search.candidates,
        ...(filter !== undefined && { filter: parseFilter(filter) }),
      };
      const words = questionWords(asked)!;
      const clauses = countedClauses(words);
      const statistics =
        counter.known(words.countedIn, clauses)?.statistics ??
        (await counter.count(words.countedIn, clauses));
      const query = {
        lexical: lexicalQuery(asked, words, statistics)!,
        dense: denseQuery(asked, { unit: true })!,
      };
      const lines = legs.flatMap((leg) => {
        const search = bestHits(query[leg], { size: asked.size, traits: filter !== undefined });
        return [{ index }, whole ? { ...search, ...WHOLE } : search];
      });
      const { statusCode, body } = await request(`${stack.config.opensearch.url}/_msearch`, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/x-ndjson' },
        body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      });
      await body.json();
      if (statusCode !== 200) throw new Error(`_msearch answered ${statusCode}`);
    };
  const gateway =
    (path: string, filter?: string) =>
    async (text: string): Promise<void> => {
      const { statusCode, body } = await request(
        `${stack.base}${path}?${new URLSearchParams({ text, ...(filter !== undefined && { filter }) }).toString()}`,
        {
          dispatcher: agent,
          headers: { authorization: `Bearer ${stack.token}` },
        },
      );
      const { documents } = (await body.json()) as { documents: unknown[] };
      if (statusCode !== 200 || documents.length === 0) throw new Error(`search answered ${statusCode}`);
    };
  type Ask = (text: string) => Promise<void>;
  const both: Legs[] = ['lexical', 'dense'];
  const path = `/search/partition/${PARTITION}`;
  interface Kind {
    kind: string;
    whole: Ask;
    ranking: Ask;
    through?: Ask;
  }
  const straight: Kind[] = [
    { kind: 'BM25', whole: raw(['lexical']), ranking: raw(['lexical'], { texts: false }) },
    { kind: 'vector', whole: raw(['dense']), ranking: raw(['dense'], { texts: false }) },
  ];
  const hybrid: Kind[] = [
    { kind: 'hybrid', whole: raw(both), ranking: raw(both, { texts: false }), through: gateway(path) },
    {
      kind: 'hybrid with a filter',
      whole: raw(both, { filter: FILTER }),
      ranking: raw(both, { filter: FILTER, texts: false }),
      through: gateway(path, FILTER),
    },
  ];

  let next = 0;
  /** Times of so many clients, each asking one question after the other. */
  const times = (clients: number, ask: Ask): Promise<number[]> =>
    askInTurn(clients, SECONDS / ROUNDS, () => ask(texts[next++ % texts.length]!));
  /** In turns, so that a machine whose speed changes is fast or slow for all alike; each sorted. */
  const timesOfEach = async (clients: number, asks: readonly Ask[]): Promise<number[][]> => {
    const taken: number[][] = asks.map(() => []);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [index, ask] of asks.entries()) taken[index]!.push(...(await times(clients, ask)));
    return taken.map((each) => each.sort((one, other) => one - other));
  };
  const measure = async ({ kind, whole, ranking, through }: Kind): Promise<void> => {
    const asks = [whole, ranking, ...(through === undefined ? [] : [through])];
    for (const ask of asks) for (const text of texts.slice(0, 100)) await ask(text);
    for (const clients of [1, 4, 16]) {
      const [plain, ranked, ours = null] = (await timesOfEach(clients, asks)) as [
        number[],
        number[],
        number[]?,
      ];
      const shown = (sorted: readonly number[] | null, share: number): string =>
        sorted === null ? '' : percentile(sorted, share).toFixed(1);
      const ratio = (to: readonly number[]): string =>
        ours === null ? '' : (percentile(ours, 0.5) / percentile(to, 0.5)).toFixed(2);
      rows.push({
        kind,
        clients,
        'OpenSearch p50 ms': shown(plain, 0.5),
        'OpenSearch p95 ms': shown(plain, 0.95),
        'ranking alone p50 ms': shown(ranked, 0.5),
        'gateway p50 ms': shown(ours, 0.5),
        'gateway p95 ms': shown(ours, 0.95),
        'ratio at p50': ratio(plain),
        'to ranking alone': ratio(ranked),
        'searches a second': ((ours ?? plain).length / SECONDS).toFixed(0),
      });
    }
  };
  for (const kind of [...straight, ...hybrid]) await measure(kind);
  // Feedback asks two questions more than the plain `_msearch`.
  await stack.killGateway();
  await stack.startGateway({ RETRIEVER_FEEDBACK: 'false' });
  for (const kind of hybrid) await measure({ ...kind, kind: `${kind.kind}, without feedback` });
} finally {
  await stack.close();
  await agent.close();
  await models.close();
}
reportBench('search', `Search among ${CHUNKS} chunks of ${models.dimension} dimensions`, rows, [
  'OpenSearch: the `_msearch` of both legs with all that an answer is made of. Ranking alone: the one that the gateway sends,',
  'which asks where the hits stand; it then reads by id what it answers.',
  'Feedback: two more questions after the first, see `activities/retrieval/search/vector-feedback.ts`.',
  'The gateway also embeds the question, with a model server that answers at once over HTTP, and checks every hit against',
  `its file record. Clients, gateway, engines and model server share the machine; each figure is ${SECONDS} s of asking, in ${ROUNDS} turns.`,
]);
