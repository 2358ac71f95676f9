/** The vector store; see `adapters.ts` for the rules that hold for all ports. */
import type { StoredChunk } from '../../schemas/documents/documents.js';
import type { Scope } from '../../schemas/documents/users.js';
import type { FilterExpression } from './filter.js';

/** What filters may ask of a chunk itself; the rest is said by its file. */
export type ChunkTraits = Pick<
  StoredChunk,
  'page' | 'chunk_type' | 'section_id' | 'prev_section_id' | 'next_section_id'
>;

/**
 * Where a chunk stands. A search tells no more of its hits, but for what its filter may ask: most are not answered, and
 * those that are, are read by id.
 */
export type ChunkHead = Pick<StoredChunk, 'chunk_id' | 'file_key' | 'generation' | 'position'> &
  Partial<ChunkTraits>;

/**
 * What a search reads of a chunk. The metadata that it holds for filters are those of its file, which are shown as the
 * file's record has them: of forty chunks they would be read and taken apart for nothing.
 */
export type FoundChunk = Omit<StoredChunk, 'metadata'>;

/** A chunk to be written. */
export interface ChunkEntry {
  chunk: StoredChunk;
  vector: readonly number[];
  /** What a model said of it, which its vector is made of too; kept for further vectors and never shown. */
  context?: string | null;
}

/** A stored chunk for those who copy it or make further vectors of it. Without a vector, or a context, it is null. */
export interface HeldChunk<Chunk = StoredChunk> {
  chunk: Chunk;
  vector: number[] | null;
  context: string | null;
}

export interface SearchLegHit {
  chunk: ChunkHead;
  /** Raw score: BM25 as the engine gives it, or cosine in [-1, 1]. */
  score: number;
}

/** Which published chunks to pass through, and how. */
export interface ScanOptions {
  vectorFields?: readonly string[];
  /** Only those that have no vector in this field. */
  withoutVector?: string;
  /** Chunks of a page at most; otherwise as many as the store takes for one. */
  pageSize?: number;
  signal?: AbortSignal;
}

interface WordSearch {
  scope: Scope;
  partitions: readonly string[] | 'all';
  /** Where the question's words are counted to tell how rare they are; `partitions` when left out. */
  countedIn?: readonly string[] | 'all';
  fileKey?: string;
  /** Any number of them. */
  fileKeys?: readonly string[];
  filter?: FilterExpression;
  withoutGenerations?: readonly number[];
  text: string;
  size: number;
  signal?: AbortSignal;
}

export interface ChunkStore {
  /**
   * Creates index and vector fields as needed; repeating is harmless.
   * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED when the store is of an older release (with `stored_schema_version`
   * among its details), or has one of the fields with another length
   */
  ensureSchema(fields: readonly { vectorField: string; dimension: number }[]): Promise<void>;
  /**
   * The same for one field, before something is written to it: one that was seen in the last minute is not looked at
   * again, and `put` makes it anew where it is gone since.
   */
  ensureField(field: { vectorField: string; dimension: number }): Promise<void>;
  /**
   * Whose chunks these are: the id of a record store. Where none is named yet, or no chunk is there, it is from now on
   * the one that asks.
   */
  ownerOf(recordStore: string): Promise<string>;
  /** Whatever was named before; for who has just removed every chunk. */
  giveTo(recordStore: string): Promise<void>;
  /** For what needs the present schema. @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED until it is there */
  requireSchema(): Promise<void>;
  /**
   * Writes unpublished chunks with their vectors; ids are derived, so writing twice is harmless.
   * @throws AppError VDB_INSERT_ERROR when the engine refuses a chunk, VDB_SCHEMA_MIGRATION_REQUIRED
   */
  put(chunks: readonly ChunkEntry[], vectorField: string, signal?: AbortSignal): Promise<void>;
  /**
   * Marks positions 0 … count-1 of a version published and waits until searches see it.
   * @param version.partition that its chunks were put with
   * @throws AppError VDB_ERROR when some of them are not there
   */
  publish(
    version: { partition: string; fileKey: string; generation: number },
    count: number,
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * Gives chunks a vector in another field, and changes nothing else of them; those that are gone are passed over. A
   * zero vector is left out.
   * @throws AppError VDB_INSERT_ERROR when the engine refuses a vector
   */
  addVectors(
    vectors: readonly { chunkId: string; partition: string; vector: readonly number[] }[],
    vectorField: string,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Waits until searches see what was put before the call. @throws AppError VDB_CONNECTION_ERROR, VDB_ERROR */
  show(signal?: AbortSignal): Promise<void>;
  /**
   * BM25 over text and names. Only published chunks of the given partitions (or all), optionally of one file or of
   * some, and of those that a filter holds of, without the generations that are known not to be live (numbers are
   * global: none belongs to two files). Hits, order and scores do not depend on chunks outside `partitions` and
   * `countedIn`.
   * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED, VDB_SEARCH_ERROR, VDB_COLLECTION_ERROR when there is no index
   */
  searchWords(request: WordSearch): Promise<SearchLegHit[]>;
  /**
   * What `searchWords` finds, and k-NN over one vector field in the same chunks. `size` hits per leg. `vectors` are
   * those of the first hits by words, as far as they were asked for and could be asked for in the same request.
   * @throws AppError as `searchWords`
   */
  searchHybrid(
    request: WordSearch & {
      vector: readonly number[];
      vectorField: string;
      /** The answer of `searchWords` to the same request, where it was asked before the vector was there. */
      lexical?: Promise<readonly SearchLegHit[]>;
      /** Of so many of the first hits by words the vectors are read along, where those hits are known by then. */
      vectorsOf?: number;
    },
  ): Promise<{ lexical: SearchLegHit[]; dense: SearchLegHit[]; vectors?: ReadonlyMap<string, number[]> }>;
  /**
   * Chunks of a partition inside the scope, of whatever version; those that a refresh has not shown yet are left out.
   */
  countChunks(scope: Scope, partition: string): Promise<{ chunks: number; published: number }>;
  /** One chunk by id that searches see, published or not, with its metadata; the caller checks generation and scope. */
  get(chunkId: string): Promise<StoredChunk | null>;
  /**
   * Chunks by id, those that searches see, published or not; the others are left out.
   * @throws AppError VDB_SEARCH_ERROR
   */
  getMany(chunkIds: readonly string[], signal?: AbortSignal): Promise<Map<string, FoundChunk>>;
  /** Vectors of an embedder's field by id; chunks that are not there or have none are left out. */
  getVectors(
    chunkIds: readonly string[],
    vectorField: string,
    signal?: AbortSignal,
  ): Promise<Map<string, number[]>>;
  /**
   * Exact cosines of published chunks with a vector, by id; chunks that are not there or have none are left out. For
   * the candidates of a search: whether the caller may see them was checked when they were found.
   * @param options.read chunks that are read along, as `getMany` does
   * @throws AppError VDB_SEARCH_ERROR
   */
  similarities(
    chunkIds: readonly string[],
    options: {
      vector: readonly number[];
      vectorField: string;
      read?: readonly string[];
      signal?: AbortSignal | undefined;
    },
  ): Promise<{ cosines: Map<string, number>; chunks: Map<string, FoundChunk> }>;
  /** Chunks of a generation by position, without the metadata that they hold for filters. */
  listByFile(fileKey: string, generation: number, limit?: number): Promise<FoundChunk[]>;
  /**
   * Published chunks of some generations, in the order of generation and position, a page at a time; each with the
   * vector of the first of the fields named that it has one in.
   * @param options.metadata also what they hold for filters: 64 KiB in each chunk of a file that has as much
   */
  scanChunks(
    generations: readonly number[],
    options: ScanOptions & { metadata: true },
  ): AsyncIterable<HeldChunk>;
  scanChunks(generations: readonly number[], options?: ScanOptions): AsyncIterable<HeldChunk<FoundChunk>>;
  /** Chunks with their vectors by position, from a position on. */
  listWithVectors(
    fileKey: string,
    generation: number,
    options: { vectorField: string; from: number; limit: number; signal?: AbortSignal },
  ): Promise<HeldChunk[]>;
  /**
   * Rewrites what positions 0 … count-1 of a generation say of their file, and waits until searches see it. Chunks
   * that are not there are left out. Several calls for one generation at the same time may come in any order, but none
   * loses a chunk.
   */
  annotate(
    fileKey: string,
    generation: number,
    count: number,
    words: Pick<StoredChunk, 'partition' | 'relationship_id' | 'parent_id' | 'metadata'>,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Chunks per (file_key, generation) after a refresh; for clean-up, the checker and the reconciler. */
  scanGenerations(): AsyncIterable<{
    fileKey: string;
    generation: number;
    chunks: number;
    published: number;
  }>;
  /** Deletes every chunk of a file but the kept generations, up to and including a generation. Answers how many. */
  deleteGenerations(fileKey: string, options: { keep: readonly number[]; upTo: number }): Promise<number>;
  deleteFile(fileKey: string): Promise<number>;
}
