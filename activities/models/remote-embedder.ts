import type { Embedder } from '../ports/models.js';
import type { ResilientCalls } from './resilience.js';
import type { ModelServer } from './servers/model-server.js';
import { ProviderFailure, providerError } from './servers/provider-failure.js';
import type { FailureKind } from './servers/provider-failure.js';
import { splitInTwo } from './split-text.js';
import { unitVector, weightedMean } from './vector-arithmetic.js';
import { plainText, wordpieceText } from './servers/wordpiece-text.js';

/** After so many full batches in a row the next ones are twice as large again. */
const BATCHES_TO_GROW = 8;

/** What a smaller batch may cure. */
const SMALLER_MAY_DO: ReadonlySet<FailureKind> = new Set(['too-long', 'refused', 'timeout']);

const WORD = /[\p{L}\p{N}]/u;
/** Every model has a vector for it. */
const KNOWN_TEXT = 'dimension';

function isNought(value: number): boolean {
  return value === 0;
}

export interface RemoteEmbedderOptions {
  endpointName: string;
  modelName: string;
  dimension: number;
  vectorField: string;
  /** Most texts in one request. */
  batchSize: number;
  /** Requests at once. */
  concurrency: number;
  threads: number | null;
  maxInputTokens: number | null;
  /** Null: the service's setting. */
  similarityThreshold: number | null;
  textForm: 'plain' | 'wordpiece';
  server: Pick<ModelServer, 'embed'>;
  calls: Pick<ResilientCalls, 'run'>;
}

/**
 * An embedder behind a model server.
 *
 * - Texts are normalised as the model needs it, documents and queries alike. A text with nothing in it gives the zero
 *   vector and is not sent.
 * - A batch that is refused, or that takes too long, is halved; batches stay smaller for a while and grow back.
 * - A single text that the model refuses, as too long above all, is split in two at a seam, as often as needed, and
 *   gets the mean of the parts' unit vectors, weighted by their length. So nothing is cut off, the chunk stays one
 *   chunk (positions and counts of its version are final by then), and queries are treated like documents.
 * - A text of which the model makes values that are no numbers counts as refused: its parts often have a vector.
 * - An answer with another number of vectors or another dimension is an error. So are zeros, unless the model has a
 *   vector for a common word: some give zeros for words that they do not know.
 */
export function createRemoteEmbedder(options: RemoteEmbedderOptions): Embedder {
  const { endpointName, modelName, dimension, server, calls, batchSize } = options;
  const normalise = options.textForm === 'wordpiece' ? wordpieceText : plainText;
  let size = batchSize;
  let fullBatches = 0;

  const vectorsOf = (texts: readonly string[], signal: AbortSignal | undefined): Promise<number[][]> => {
    const { maxInputTokens: windowTokens, threads } = options;
    return server.embed({ model: modelName, texts, windowTokens, threads }, signal);
  };

  const ask = (texts: readonly string[], signal: AbortSignal | undefined): Promise<number[][]> =>
    calls.run(async () => {
      const vectors = await vectorsOf(texts, signal);
      if (vectors.length !== texts.length)
        throw new ProviderFailure('bad-answer', `${vectors.length} vectors for ${texts.length} texts`);
      const odd = vectors.find((vector) => vector.length !== dimension);
      if (odd !== undefined)
        throw new ProviderFailure(
          'bad-answer',
          `a vector of ${odd.length} dimensions instead of ${dimension}: is it another model by now?`,
        );
      // Of some texts a model makes NaN, in half precision above all: it lies in the text.
      if (!vectors.every((vector) => vector.every(Number.isFinite)))
        throw new ProviderFailure('refused', 'a vector holds a value that is no number');
      const isZero = texts.some((text, index) => WORD.test(text) && (vectors[index] ?? []).every(isNought));
      if (isZero && (await vectorsOf([KNOWN_TEXT], signal)).flat().every(isNought))
        throw new ProviderFailure('bad-answer', 'the model answers zeros to every text');
      return vectors.map(unitVector);
    }, signal);

  const grow = (texts: number): void => {
    fullBatches = texts >= size ? fullBatches + 1 : fullBatches;
    if (fullBatches < BATCHES_TO_GROW) return;
    size = Math.min(batchSize, size * 2);
    fullBatches = 0;
  };

  const embedSplit = async (text: string, refused: ProviderFailure, signal: AbortSignal | undefined) => {
    const parts = splitInTwo(text);
    if (parts === null) throw refused;
    const weighted = [];
    // One after the other: if the first is refused for another reason, the second need not be asked.
    for (const part of parts)
      if (part.trim() !== '')
        weighted.push({ vector: (await embedBatch([part], signal))[0] ?? [], weight: part.length });
    return weightedMean(weighted);
  };

  const embedBatch = async (
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<number[][]> => {
    try {
      const vectors = await ask(texts, signal);
      grow(texts.length);
      return vectors;
    } catch (error) {
      if (!(error instanceof ProviderFailure) || !SMALLER_MAY_DO.has(error.kind)) throw error;
      const [only = ''] = texts;
      if (texts.length === 1) {
        if (error.kind === 'timeout') throw error;
        return [await embedSplit(only, error, signal)];
      }
      const half = Math.ceil(texts.length / 2);
      // One long text among others says nothing about the batch.
      if (error.kind !== 'too-long') size = Math.min(size, half);
      fullBatches = 0;
      return [
        ...(await embedBatch(texts.slice(0, half), signal)),
        ...(await embedBatch(texts.slice(half), signal)),
      ];
    }
  };

  return {
    endpointName,
    modelName,
    dimension,
    vectorField: options.vectorField,
    batchSize: batchSize * options.concurrency,
    maxInputTokens: options.maxInputTokens,
    ...(options.similarityThreshold !== null && { similarityThreshold: options.similarityThreshold }),
    async embed(texts, { signal }) {
      signal?.throwIfAborted();
      const wanted = texts
        .map((text, index) => ({ text: normalise(text), index }))
        .filter(({ text }) => text.trim() !== '');
      const vectors = texts.map((): number[] => []);
      const failed = new AbortController();
      const either = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
      let next = 0;
      const work = async (): Promise<void> => {
        while (next < wanted.length) {
          const batch = wanted.slice(next, next + size);
          next += batch.length;
          const answered = await embedBatch(
            batch.map(({ text }) => text),
            either,
          );
          batch.forEach(({ index }, place) => (vectors[index] = answered[place] ?? []));
        }
      };
      try {
        await Promise.all(Array.from({ length: options.concurrency }, work));
      } catch (error) {
        // The other requests of this call are for nothing now.
        failed.abort(error);
        throw providerError(error, 'embedding', endpointName);
      }
      return vectors.map((vector) => (vector.length === 0 ? new Array<number>(dimension).fill(0) : vector));
    },
  };
}
