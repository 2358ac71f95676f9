/**
 * `npm run bench:peers`: Tamis and OGX side by side on one machine, with the same embedder behind the same Ollama, in
 * turns: each client uploads a text, waits until it can be found, and takes the next. Medians over the turns.
 *
 * OGX answers an upload once it is indexed, keeps no task, loses what is at work when it is killed and holds no tenants
 * apart: it is here for its speed alone. `-- --files 300 --turns 5 --clients 4,8`, `--search-files 400`,
 * `--warm-searches 0` and `--long-searches 0` change the sizes.
 */
import { parseArgs } from 'node:util';
import { mean, percentile } from '../../activities/retrieval/evaluation/measures.js';
import type { RunningStack } from '../support/running-stack.js';
import { documentClient } from '../support/document-client.js';
import { reportBench } from './bench-report.js';
import { inParallel, uploadAndWait } from './clients.js';
import type { Text } from './clients.js';
import { cranfield } from './collection.js';
import { openBenchStack } from './open-bench-stack.js';
import { openOgx } from './ogx-server.js';
import type { OgxServer } from './ogx-server.js';
import { memoryBelow, processorTime, processorTimeBelow, timeOfEach } from './processor-time.js';

const { values: given } = parseArgs({
  options: {
    files: { type: 'string', default: '120' },
    turns: { type: 'string', default: '3' },
    clients: { type: 'string', default: '4,8,16' },
    'search-files': { type: 'string', default: '1398' },
    'warm-searches': { type: 'string', default: '400' },
    'long-searches': { type: 'string', default: '1200' },
  },
});
const FILES = Number(given.files);
const TURNS = Number(given.turns);
const CLIENTS = given.clients.split(',').map(Number);
const SEARCH_FILES = Number(given['search-files']);
const SEARCHES = 60;
/** The first of a service that has just started. */
const FIRST_SEARCHES = 20;
/** Asked of each before the others are measured: what has just started is still being compiled. */
const WARM_SEARCHES = Number(given['warm-searches']);
/** Asked of each in addition before searches are measured once more: a service that has been in use for some time. */
const LONG_SEARCHES = Number(given['long-searches']);
const WARM_CLIENTS = 4;
const SEARCH_CLIENTS = [1, 8];
/** Those that fill the searched store. */
const FILL_CLIENTS = 8;
const WARM_FILES = 24;
/** After its start: what starting has left is collected by then. */
const IDLE_AFTER_MS = 20_000;
const OGX_LOOKS_EVERY_MS = 250;
const BATCH = 40;
/** Texts that the model alone embeds, one by one and in batches. */
const MODEL_TEXTS = 120;

/** One of the systems, as a client sees it. */
interface Peer {
  name: string;
  /** A new, empty store. */
  make(): Promise<string>;
  /** Returns once the text can be found. */
  add(store: string, text: Text): Promise<void>;
  /** Hybrid, ten results. */
  find(store: string, question: string): Promise<void>;
  /** Milliseconds of processor time so far by part, the model server left out. */
  processor(): Map<string, number>;
  /** Resident memory of its own processes, in MiB; engines left out. */
  memory(): number;
}

async function json<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 300)}`);
  return (await response.json()) as T;
}

let made = 0;

function tamisPeer(stack: RunningStack): Peer {
  const client = documentClient(stack);
  return {
    name: 'Tamis',
    async make() {
      const name = `bench-${(made += 1)}`;
      await stack.request(`/partition/${name}`, { method: 'POST' });
      return name;
    },
    add: (store, text) => uploadAndWait(client, store, text),
    async find(store, text) {
      const query = new URLSearchParams({ text, top_k: '10' });
      await json(await stack.request(`/search/partition/${store}?${query.toString()}`));
    },
    processor: () => processorTime(stack),
    memory: () => memoryBelow([stack.gatewayPid(), stack.workerPid()]),
  };
}

function ogxPeer({ url, pid }: OgxServer): Peer {
  const post = async <T>(path: string, body: object): Promise<T> =>
    json<T>(
      await fetch(`${url}${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    );
  return {
    name: 'OGX 1.5',
    async make() {
      const { id } = await post<{ id: string }>('/vector_stores', {
        name: `bench-${(made += 1)}`,
        provider_id: 'sqlite-vec',
        embedding_model: 'ollama/all-minilm',
        embedding_dimension: 384,
      });
      return id;
    },
    async add(store, { id, content }) {
      const form = new FormData();
      form.append('purpose', 'assistants');
      form.append('file', new Blob([content], { type: 'text/plain' }), `${id}.txt`);
      const file = await json<{ id: string }>(await fetch(`${url}/files`, { method: 'POST', body: form }));
      let { status } = await post<{ status: string }>(`/vector_stores/${store}/files`, { file_id: file.id });
      while (status === 'in_progress') {
        await new Promise((resolve) => setTimeout(resolve, OGX_LOOKS_EVERY_MS));
        ({ status } = await json<{ status: string }>(
          await fetch(`${url}/vector_stores/${store}/files/${file.id}`),
        ));
      }
      if (status !== 'completed') throw new Error(`OGX: ${id} ended ${status}`);
    },
    async find(store, query) {
      await post(`/vector_stores/${store}/search`, { query, max_num_results: 10, search_mode: 'hybrid' });
    },
    processor: () => new Map([['OGX', processorTimeBelow([pid])]]),
    memory: () => memoryBelow([pid]),
  };
}

/**
 * They ask the model with other options, and Ollama loads it anew where these change: half a second, which belongs to
 * no turn.
 */
async function loadModel(peer: Peer): Promise<void> {
  await peer.add(await peer.make(), { id: 'first', filename: 'first.txt', content: 'Which model is asked?' });
}

interface IndexTurn {
  perSecond: number;
  processor: Map<string, number>;
}

async function indexTurn(
  peer: Peer,
  store: string,
  texts: readonly Text[],
  clients: number,
): Promise<IndexTurn> {
  await loadModel(peer);
  const before = peer.processor();
  const began = performance.now();
  await inParallel(clients, texts, (text) => peer.add(store, text));
  const seconds = (performance.now() - began) / 1000;
  return { perSecond: texts.length / seconds, processor: timeOfEach(before, peer.processor(), texts.length) };
}

interface SearchTurn {
  p50: number;
  p95: number;
  perSecond: number;
}

async function searchTurn(
  peer: Peer,
  store: string,
  questions: readonly string[],
  clients: number,
): Promise<SearchTurn> {
  const took: number[] = [];
  await loadModel(peer);
  const began = performance.now();
  await inParallel(clients, questions, async (question) => {
    const asked = performance.now();
    await peer.find(store, question);
    took.push(performance.now() - asked);
  });
  const seconds = (performance.now() - began) / 1000;
  took.sort((a, b) => a - b);
  return { p50: percentile(took, 0.5), p95: percentile(took, 0.95), perSecond: took.length / seconds };
}

function median(values: readonly number[]): number {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/** What both had in their middle turns. */
function mediansOf<Turn>(
  [tamis, ogx]: readonly [readonly Turn[], readonly Turn[]],
  of: (turn: Turn) => number,
): [number, number] {
  return [median(tamis.map(of)), median(ogx.map(of))];
}

/** Texts a second of the model alone, so many in a request. */
async function modelRate(ollama: string, texts: readonly string[], size: number): Promise<number> {
  const began = performance.now();
  for (let at = 0; at < texts.length; at += size)
    await json(
      await fetch(`${ollama}/api/embed`, {
        method: 'POST',
        body: JSON.stringify({ model: 'all-minilm', input: texts.slice(at, at + size) }),
      }),
    );
  return (1000 * texts.length) / (performance.now() - began);
}

type Row = Record<string, string | number>;

function rowOf(
  measured: string,
  [tamis, ogx]: readonly [number, number],
  options: { digits?: number; lessIsBetter?: boolean } = {},
): Row {
  const { digits = 1, lessIsBetter = false } = options;
  return {
    measured,
    Tamis: tamis.toFixed(digits),
    'OGX 1.5': ogx.toFixed(digits),
    'times as good': (lessIsBetter ? ogx / tamis : tamis / ogx).toFixed(2),
  };
}

function rowsOfIndexing(what: string, turns: readonly [readonly IndexTurn[], readonly IndexTurn[]]): Row[] {
  const processorOf = ({ processor }: IndexTurn): number =>
    [...processor.values()].reduce((sum, ms) => sum + ms, 0);
  return [
    rowOf(
      `files a second, ${what}`,
      mediansOf(turns, ({ perSecond }) => perSecond),
    ),
    rowOf(`processor ms a file beyond the model, ${what}`, mediansOf(turns, processorOf), {
      digits: 0,
      lessIsBetter: true,
    }),
  ];
}

/** What each part of Tamis took of it. */
function rowsOfParts(what: string, parts: ReadonlyMap<string, readonly number[]>): Row[] {
  return [...parts].map(([part, ms]) => ({
    measured: `of it ${part}${what}`,
    Tamis: mean(ms).toFixed(0),
    'OGX 1.5': '',
    'times as good': '',
  }));
}

async function measureIndexing(peers: readonly [Peer, Peer], texts: readonly Text[]): Promise<Row[]> {
  const rows: Row[] = [];
  const parts = new Map<string, number[]>();
  for (const clients of CLIENTS) {
    const turns: [IndexTurn[], IndexTurn[]] = [[], []];
    for (let turn = 0; turn < TURNS; turn += 1)
      for (const [place, peer] of peers.entries())
        turns[place]!.push(await indexTurn(peer, await peer.make(), texts.slice(0, FILES), clients));
    for (const { processor } of turns[0])
      for (const [part, ms] of processor) parts.set(part, [...(parts.get(part) ?? []), ms]);
    rows.push(...rowsOfIndexing(`${clients} clients`, turns));
  }
  rows.push(...rowsOfParts('', parts));
  return rows;
}

/** Both search, with one client and with several, in turns. */
async function searchInTurns(
  peers: readonly [Peer, Peer],
  stores: readonly string[],
  questions: readonly string[],
  when: string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const clients of SEARCH_CLIENTS) {
    const turns: [SearchTurn[], SearchTurn[]] = [[], []];
    for (let turn = 0; turn < TURNS; turn += 1)
      for (const [place, peer] of peers.entries()) {
        // Others in each turn, the same for both.
        const asked = questions.slice(turn * SEARCHES, (turn + 1) * SEARCHES);
        turns[place]!.push(await searchTurn(peer, stores[place]!, asked, clients));
      }
    const what = `hybrid search${when}, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
    rows.push(
      rowOf(
        `${what}, p50 ms`,
        mediansOf(turns, ({ p50 }) => p50),
        { lessIsBetter: true },
      ),
    );
    rows.push(
      rowOf(
        `${what}, p95 ms`,
        mediansOf(turns, ({ p95 }) => p95),
        { lessIsBetter: true },
      ),
    );
    rows.push(
      rowOf(
        `${what}, requests a second`,
        mediansOf(turns, ({ perSecond }) => perSecond),
      ),
    );
  }
  return rows;
}

async function measureSearch(
  peers: readonly [Peer, Peer],
  texts: readonly Text[],
  questions: readonly string[],
): Promise<Row[]> {
  const stores: string[] = [];
  const fills: IndexTurn[] = [];
  for (const peer of peers) {
    const store = await peer.make();
    fills.push(await indexTurn(peer, store, texts.slice(0, SEARCH_FILES), FILL_CLIENTS));
    stores.push(store);
  }
  // Others than are measured.
  const others = questions.slice(TURNS * SEARCHES);
  const warmBy = async (count: number): Promise<void> => {
    const asked = Array.from({ length: count }, (_, index) => others[index % others.length]!);
    for (const [place, peer] of peers.entries())
      await inParallel(WARM_CLIENTS, asked, (question) => peer.find(stores[place]!, question));
  };
  const cold: number[] = [];
  for (const [place, peer] of peers.entries())
    cold.push((await searchTurn(peer, stores[place]!, others.slice(0, FIRST_SEARCHES), 1)).p50);
  await warmBy(WARM_SEARCHES);
  const filled = `${SEARCH_FILES} files, ${FILL_CLIENTS} clients`;
  const rows = [
    ...rowsOfIndexing(filled, [[fills[0]!], [fills[1]!]]),
    ...rowsOfParts(`, ${filled}`, new Map([...fills[0]!.processor].map(([part, ms]) => [part, [ms]]))),
    rowOf(`the first ${FIRST_SEARCHES} hybrid searches, 1 client, p50 ms`, [cold[0]!, cold[1]!], {
      lessIsBetter: true,
    }),
    ...(await searchInTurns(peers, stores, questions, '')),
  ];
  if (LONG_SEARCHES > 0) {
    await warmBy(LONG_SEARCHES);
    rows.push(...(await searchInTurns(peers, stores, questions, ` after ${LONG_SEARCHES} more`)));
  }
  return rows;
}

const ollama = process.env['OLLAMA_HOST'];
if (ollama === undefined) throw new Error('OLLAMA_HOST is not set: run this with `npm run bench:peers`');
const { documents, queries } = cranfield();
const questions = queries.map(({ text }) => text);
const stack = await openBenchStack({
  EMBEDDER_PROVIDER: 'ollama',
  EMBEDDER_BASE_URL: ollama,
  EMBEDDER_MODEL_NAME: 'all-minilm',
});
const rows: Row[] = [];
let single = 0;
let batched = 0;
try {
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  const ogx = await openOgx(ollama);
  try {
    const peers = [tamisPeer(stack), ogxPeer(ogx)] as const;
    const memory = (): [number, number] => [peers[0].memory(), peers[1].memory()];
    await new Promise((resolve) => setTimeout(resolve, IDLE_AFTER_MS));
    rows.push(rowOf('memory when idle, MiB', memory(), { digits: 0, lessIsBetter: true }));
    const warm = documents.slice(-WARM_FILES);
    for (const peer of peers) await indexTurn(peer, await peer.make(), warm, 8);
    const texts = documents.slice(0, MODEL_TEXTS).map(({ content }) => content);
    single = await modelRate(ollama, texts, 1);
    batched = await modelRate(ollama, texts, BATCH);
    rows.push(...(await measureIndexing(peers, documents)));
    rows.push(...(await measureSearch(peers, documents, questions)));
    rows.push(rowOf('memory at the end, MiB', memory(), { digits: 0, lessIsBetter: true }));
  } finally {
    await ogx.close();
  }
} finally {
  await stack.close();
}
reportBench('peers', 'Beside OGX', rows, [
  `${FILES} Cranfield texts a turn and ${SEARCH_FILES} in the searched store, which ${WARM_SEARCHES} searches have warmed; medians`,
  `of ${TURNS} turns, one system after the other in each; the searched store is filled once.`,
  `all-MiniLM by itself embeds ${single.toFixed(1)} texts a second one by one and`,
  `${batched.toFixed(1)} in requests of ${BATCH}. Processor time leaves out Ollama and the client; memory leaves out`,
  'Ollama, and the engines of Tamis (OGX keeps its stores in its own process).',
]);
