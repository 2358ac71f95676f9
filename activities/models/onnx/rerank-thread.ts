/**
 * The thread of one model: computing blocks, and what it takes of memory is given back when the thread ends. Calls are
 * answered in the order in which they came.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { loadCrossEncoder } from './cross-encoder.js';
import type { CrossEncoder } from './cross-encoder.js';
import type { EncodedPair } from './encode-pairs.js';
import type { FromThread, ModelPaths, ScoreJob, ToThread } from './thread-messages.js';
import { UnusableModel } from './unusable-model.js';

/**
 * Tokens, padding included, that are computed in one go. A larger product was no faster, and a call whose caller has
 * left is given up between two of them.
 */
const TOKENS_AT_ONCE = 512;

const port = parentPort!;
const waiting: ScoreJob[] = [];
const left = new Set<number>();
/** The one that is being computed. */
let current: number | null = null;

function tell(message: FromThread): void {
  port.postMessage(message);
}

class Left extends Error {}

/** Lets messages in. @throws Left when the caller has left meanwhile */
async function stillWanted({ id }: ScoreJob): Promise<void> {
  await breathe();
  if (left.delete(id)) throw new Left();
}

/** Runs of pairs that are computed together; short ones come first, so that little is padded. */
function slicesOf(pairs: readonly EncodedPair[]): number[][] {
  const length = (place: number): number => pairs[place]!.ids.length;
  const slices: number[][] = [];
  for (const place of [...pairs.keys()].sort((a, b) => length(a) - length(b))) {
    const last = slices.at(-1);
    if (last !== undefined && (last.length + 1) * length(place) <= TOKENS_AT_ONCE) last.push(place);
    else slices.push([place]);
  }
  return slices;
}

async function scoresFor(model: CrossEncoder, job: ScoreJob): Promise<number[]> {
  await stillWanted(job);
  const encode = model.withQuery(job.query);
  const pairs: EncodedPair[] = [];
  for (const text of job.texts) {
    await stillWanted(job);
    pairs.push(encode(text));
  }
  const scores = new Array<number>(pairs.length).fill(0);
  for (const slice of slicesOf(pairs)) {
    await stillWanted(job);
    const found = await model.score(slice.map((place) => pairs[place]!));
    for (const [index, place] of slice.entries()) scores[place] = found[index]!;
  }
  return scores;
}

async function answer(model: CrossEncoder, job: ScoreJob): Promise<FromThread> {
  const { id } = job;
  try {
    return { kind: 'scores', id, scores: await scoresFor(model, job) };
  } catch (error) {
    if (error instanceof Left) return { kind: 'cancelled', id };
    // The runtime itself has broken down, and what its memory holds is unknown: the thread must end.
    if ((error as Error).name === 'RuntimeError') throw error;
    return { kind: 'failed', id, problem: (error as Error).message };
  }
}

async function work(model: CrossEncoder): Promise<void> {
  if (current !== null) return;
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
    current = job.id;
    tell(await answer(model, job));
    left.delete(job.id);
    current = null;
  }
}

function leave(id: number): void {
  const place = waiting.findIndex((job) => job.id === id);
  if (place >= 0) {
    waiting.splice(place, 1);
    tell({ kind: 'cancelled', id });
  } else if (current === id) left.add(id);
}

async function main(): Promise<void> {
  let model: CrossEncoder;
  try {
    model = await loadCrossEncoder(workerData as ModelPaths);
  } catch (error) {
    if (!(error instanceof UnusableModel)) throw error;
    tell({ kind: 'unusable', problem: error.message });
    return;
  }
  port.on('message', (message: ToThread) => {
    if (message.kind === 'cancel') leave(message.id);
    else {
      waiting.push(message);
      // An error here is of no call: it ends the thread, which the other side takes for what it is.
      void work(model);
    }
  });
  tell({ kind: 'ready' });
}

void main();
