import type { ChunkStore } from '../../ports/chunks.js';
import type { FileStore } from '../../ports/files.js';
import type { Meter } from '../../ports/meter.js';
import type { Embedder } from '../../ports/models.js';
import type { FusedHit } from './fusion.js';
import { checkGenerations } from './generation-check.js';
import type { CheckedHit, CheckLimits, DroppedHit } from './generation-check.js';

/** What the partitions of one embedder answered. */
export interface GroupHits {
  embedder: Embedder;
  /** Of the embedder in the question's language, 0 to 1; null: not known. */
  competence: number | null;
  partitions: readonly string[];
  similarityThreshold: number;
  rounds: number;
  lexical: CheckedHit[];
  dense: CheckedHit[];
  dropped: { lexical: DroppedHit[]; dense: DroppedHit[] };
  /** The question's. */
  vector: readonly number[];
  /** Those of some hits, which came along. */
  vectors: ReadonlyMap<string, readonly number[]>;
  /** Scores of all candidates by the question moved towards a hit; in place of the dense leg's, where there are any. */
  feedback?: { from: string; scores: FusedHit[] };
}

export interface LegsRequest extends CheckLimits {
  embedder: Embedder;
  text: string;
  similarityThreshold: number;
  /** All that is searched, by whatever embedder: words are counted there, so that the groups' scores compare. */
  countedIn: readonly string[];
  /** Hits asked of each leg. */
  size: number;
  /** Hits that are wanted in the end. */
  topK: number;
  /** The files of the workspace. */
  fileKeys?: readonly string[];
  /** Of so many of the first hits by words the vectors are wanted, where they can be had without a further request. */
  vectorsOf: number;
  signal?: AbortSignal | undefined;
}

/**
 * When checks drop hits, ask again without their generations, so often. Asking for more hits instead would not do:
 * a large version that is marked as published, and becomes live in a moment, has hits without end before any other.
 */
const MAX_ROUNDS = 4;

function idsIn(legs: { lexical: readonly CheckedHit[]; dense: readonly CheckedHit[] }): number {
  return new Set([...legs.lexical, ...legs.dense].map(({ chunk }) => chunk.chunk_id)).size;
}

/**
 * Both legs over the partitions of one embedder, which embeds the text once, while the words are searched; every hit is
 * compared with its file record, and what the checks drop is filled up again.
 * @throws AppError of the chunk store and the embedder, as their ports say
 */
// eslint-disable-next-line complexity -- optional fields of one query, and its rounds
export async function searchLegs(
  {
    chunks,
    files,
    meter,
  }: {
    chunks: Pick<ChunkStore, 'searchWords' | 'searchHybrid'>;
    files: Pick<FileStore, 'getMany'>;
    meter?: Pick<Meter, 'orphansDropped'>;
  },
  request: LegsRequest,
): Promise<Omit<GroupHits, 'competence'>> {
  const { embedder, scope, text, size, topK, signal, fileKey, fileKeys, filter } = request;
  const { similarityThreshold } = request;
  const partitions = [...request.partitions];
  const question = {
    scope,
    partitions,
    countedIn: request.countedIn,
    text,
    size,
    ...(fileKey !== undefined && { fileKey }),
    ...(fileKeys !== undefined && { fileKeys }),
    ...(filter !== undefined && { filter }),
    ...(signal && { signal }),
  };
  const lexical = chunks.searchWords(question);
  // Told by `searchHybrid`; where there is no vector, that is what is told.
  lexical.catch(() => {});
  const [vector = []] = await embedder.embed([text], { kind: 'query', ...(signal && { signal }) });
  const without = new Set<number>();
  const dropped: GroupHits['dropped'] = { lexical: [], dense: [] };
  for (let rounds = 1; ; rounds++) {
    const answer = await chunks.searchHybrid({
      ...question,
      vector,
      vectorField: embedder.vectorField,
      vectorsOf: request.vectorsOf,
      ...(rounds === 1 ? { lexical } : { withoutGenerations: [...without] }),
    });
    const near = answer.dense.filter(({ score }) => score >= similarityThreshold);
    const far = answer.dense.slice(near.length);
    const checked = await checkGenerations({ lexical: answer.lexical, dense: near }, files, request);
    const { legs, dead, hidden } = checked;
    dropped.lexical.push(...checked.dropped.lexical);
    dropped.dense.push(...checked.dropped.dense);
    const orphans = [...checked.dropped.lexical, ...checked.dropped.dense].filter(
      ({ reason }) => reason === 'generation',
    );
    if (orphans.length > 0) meter?.orphansDropped(new Set(orphans.map(({ id }) => id)).size);
    const fullPage = answer.lexical.length >= size || answer.dense.length >= size;
    // Hidden: also when there is no more to find. A version replaced between the engine's answer and the record is
    // found under its new generation now.
    const again = dead.size > 0 && (hidden.size > 0 || (fullPage && idsIn(legs) < topK));
    if (!again || rounds === MAX_ROUNDS) {
      dropped.dense.push(
        ...far.map(({ chunk, score }) => ({ id: chunk.chunk_id, score, reason: 'threshold' as const })),
      );
      const { vectors = new Map() } = answer;
      return { embedder, partitions, similarityThreshold, rounds, vector, vectors, ...legs, dropped };
    }
    for (const generation of dead) without.add(generation);
    // Dead a round ago, and live since.
    for (const generation of hidden) without.delete(generation);
  }
}
