import { AppError } from '../../schemas/app-error.js';
import type { FileRecord } from '../../schemas/documents/documents.js';
import type { MigrationPosition } from '../../schemas/migrations/migrations.js';
import { DEFAULT_ALIAS } from '../../schemas/models/endpoint-names.js';
import type { Adapters } from '../ports/adapters.js';
import type { ChunkIndex, ChunkIndexes, MigrationSlice, SliceControl } from '../ports/migrations.js';
import { toVerdict } from './verdict.js';
import { fileOf } from '../documents/commands/file-of.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

export type VerifyStores = Pick<Adapters, 'partitions' | 'endpoints' | 'files'>;

type Phase = 'checking vectors' | 'checking files' | 'comparing with the kept index';

interface Position extends MigrationPosition {
  phase: Phase;
  problems: string[];
  figures: Record<string, number>;
}

/** Chunks of the kept index that are looked for in the live one. */
const SAMPLE = 1_000;
/** As many are named in what a verification says. */
const NAMED = 5;

/**
 * Checks the live index against what a migration promises, and changes nothing: the shape of this release, each
 * published chunk with a vector in the field of its partition's embedder, each live file with all of its chunks, and
 * the vectors of the index that was replaced, where it is kept. What changes meanwhile is looked at again.
 */
export function createVectorStoreVerification(indexes: ChunkIndexes, stores: VerifyStores) {
  const { partitions, endpoints, files } = stores;

  /** Chunks without the vector that searches ask for, by partition. */
  const checkVectors = async (live: ChunkIndex, position: Position, { signal }: SliceControl) => {
    const all = await partitions.list(EVERYTHING);
    const embedders = await endpoints.list('embedder');
    const defaultName = (await endpoints.defaults()).embedder;
    let [lacking, moving] = [0, 0];
    const problems: string[] = [];
    for (const { partition, embedder } of all) {
      signal.throwIfAborted();
      const isDefault = embedder === DEFAULT_ALIAS && !embedders.some(({ name }) => name === embedder);
      const name = isDefault ? defaultName : embedder;
      const field = embedders.find((endpoint) => endpoint.name === name)?.vector_field;
      if (field == null) {
        problems.push(`The partition ${partition} uses the embedder ${embedder}, which is not registered.`);
        continue;
      }
      const missing = await indexes.countWithout(live.index, { partition, vectorField: field });
      if (missing === 0) continue;
      // Between the switch of a swap and its end, files that came up meanwhile lack the new vector.
      const used = await files.countEmbedders(partition);
      if ([...used.keys()].some((other) => other !== embedder)) {
        moving += 1;
        continue;
      }
      lacking += missing;
      problems.push(`${missing} chunks of the partition ${partition} have no vector of ${embedder}.`);
    }
    return next(position, 'checking files', problems, {
      partitions: all.length,
      partitions_being_swapped: moving,
      chunks_without_vector: lacking,
    });
  };

  /** Live versions of which the index has not as many chunks as the record says. */
  const checkFiles = async (live: ChunkIndex, position: Position, { signal }: SliceControl) => {
    const found = new Map<string, number>();
    for await (const { fileKey, generation, chunks } of indexes.generations(live.index)) {
      signal.throwIfAborted();
      found.set(`${generation}/${fileKey}`, chunks);
    }
    const suspects: FileRecord[] = [];
    let compared = 0;
    for await (const file of files.scan()) {
      signal.throwIfAborted();
      if (file.live === null || file.deleted_at !== null) continue;
      compared += 1;
      const held = found.get(`${file.live.generation}/${file.file_key}`) ?? 0;
      if (held !== file.live.chunk_count) suspects.push(file);
    }
    let missing = 0;
    const named: string[] = [];
    // Published or replaced since the index was read, most of them.
    for (const suspect of suspects) {
      signal.throwIfAborted();
      const generation = suspect.live?.generation ?? 0;
      const held = await indexes.countGeneration(live.index, { fileKey: suspect.file_key, generation });
      const present = await fileOf(files, suspect.file_key);
      if (present?.live?.generation !== generation || held === present.live.chunk_count) continue;
      missing += Math.abs(present.live.chunk_count - held);
      named.push(`${present.partition}/${present.file_id} (${held} of ${present.live.chunk_count})`);
    }
    const problems =
      named.length === 0
        ? []
        : [`${named.length} files have not the chunks they should: ${named.slice(0, NAMED).join(', ')}.`];
    return next(position, 'comparing with the kept index', problems, {
      files_compared: compared,
      chunks_missing: missing,
    });
  };

  const compareKept = async (all: readonly ChunkIndex[], live: ChunkIndex, position: Position) => {
    const kept = all.find(({ index }) => index === live.replaced?.index);
    const known = (await partitions.list(EVERYTHING)).map(({ partition }) => partition);
    const { compared, differing } =
      kept === undefined
        ? { compared: 0, differing: 0 }
        : await indexes.compareKeptVectors(
            { source: kept.index, target: live.index },
            { sample: SAMPLE, partitions: known },
          );
    const figures = { ...position.figures, vectors_compared: compared, vectors_differing: differing };
    const problems =
      differing === 0
        ? position.problems
        : [
            ...position.problems,
            `${differing} of ${compared} chunks have another vector than in ${kept?.index ?? ''}.`,
          ];
    return toVerdict(toSlice({ ...position, figures }, live.chunks), problems);
  };

  return async (from: MigrationPosition | null, control: SliceControl): Promise<MigrationSlice> => {
    const all = await indexes.list();
    const live = all.find((index) => index.live);
    const { schema, step } = indexes.present;
    if (live === undefined) {
      const nothing: Position = { phase: 'checking vectors', problems: [], figures: { chunks: 0 } };
      return toVerdict(toSlice(nothing, 0), []);
    }
    if (live.schema !== schema || live.step !== step)
      throw new AppError(
        'MIGRATION_NOT_VERIFIED',
        `The index has step ${live.step} of schema ${live.schema}; this release makes step ${step} of schema ${schema}.`,
      );
    const position = (from as Position | null) ?? {
      phase: 'checking vectors',
      problems: [],
      figures: { chunks: live.chunks },
    };
    await control.pace();
    switch (position.phase) {
      case 'checking vectors':
        return toSlice(await checkVectors(live, position, control), live.chunks);
      case 'checking files':
        return toSlice(await checkFiles(live, position, control), live.chunks);
      case 'comparing with the kept index':
        return compareKept(all, live, position);
    }
  };
}

function next(
  position: Position,
  phase: Phase,
  problems: readonly string[],
  figures: Record<string, number>,
): Position {
  return {
    phase,
    problems: [...position.problems, ...problems],
    figures: { ...position.figures, ...figures },
  };
}

function toSlice(position: Position, chunks: number): MigrationSlice {
  const { figures } = position;
  // All of the chunks are looked at by the time the files are through.
  const done = figures['files_compared'] === undefined ? 0 : chunks;
  return { position, ended: false, cancellable: true, done, total: chunks, figures };
}
