import { readFile } from 'node:fs/promises';
import * as ort from 'onnxruntime-web';
import { createPairEncoder } from './encode-pairs.js';
import type { EncodedPair, PairEncoder } from './encode-pairs.js';
import { readModelSettings } from './model-settings.js';
import type { ModelPaths } from './thread-messages.js';
import { UnusableModel } from './unusable-model.js';

/** A model in memory. */
export interface CrossEncoder extends Pick<PairEncoder, 'withQuery'> {
  /** Scores from 0 to 1, in the order of the pairs. Blocks this thread while it computes. */
  score(pairs: readonly EncodedPair[]): Promise<number[]>;
}

const OUTPUT = 'logits';
const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'] as const;
type Input = (typeof INPUTS)[number];

type Json = Record<string, unknown>;

async function readJson(path: string, name: string): Promise<Json> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Json;
  } catch (error) {
    throw new UnusableModel(`its ${name} cannot be read: ${(error as Error).message}`);
  }
  throw new UnusableModel(`its ${name} holds no object`);
}

async function openSession(path: string): Promise<ort.InferenceSession> {
  // One thread: two were no faster for models of this size, and each more would compete with requests for a core.
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'fatal';
  try {
    // Read here: of a path the library keeps a second copy of the model for as long as the session lives.
    return await ort.InferenceSession.create(await readFile(path), {
      executionProviders: ['wasm'],
      logSeverityLevel: 4,
      enableCpuMemArena: false,
      enableMemPattern: false,
      // Weights laid out anew for faster products: a third more memory, and no gain that could be measured here.
      extra: { session: { disable_prepacking: '1' } },
    });
  } catch (error) {
    throw new UnusableModel(`its ONNX file cannot be loaded: ${(error as Error).message}`);
  }
}

function inputsOf({ inputNames, outputNames }: ort.InferenceSession): Input[] {
  if (!outputNames.includes(OUTPUT))
    throw new UnusableModel(
      `it is no cross-encoder: it has the outputs ${outputNames.join(', ')} and no '${OUTPUT}'`,
    );
  const known: readonly string[] = INPUTS;
  const unknown = inputNames.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UnusableModel(`it asks for an input '${unknown}', which is not known here`);
  return INPUTS.filter((name) => inputNames.includes(name));
}

/** One row for each pair, each as long as the longest. */
function tensorOf(
  pairs: readonly EncodedPair[],
  width: number,
  at: (pair: EncodedPair, place: number) => number,
) {
  const cells = new BigInt64Array(pairs.length * width);
  for (const [row, pair] of pairs.entries())
    for (let place = 0; place < width; place += 1) cells[row * width + place] = BigInt(at(pair, place));
  return new ort.Tensor('int64', cells, [pairs.length, width]);
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/**
 * One logit is a measure, made 0 to 1 by the logistic function, as sentence-transformers' CrossEncoder does for
 * `num_labels` 1 (sbert.net/docs/package_reference/cross_encoder/model.html); two are the logits of "no" and "yes", and
 * the softmax's second is the logistic function of their difference.
 */
function scoresOf(logits: ort.Tensor, count: number): number[] {
  const [rows, labels] = logits.dims;
  const { data } = logits;
  if (logits.dims.length !== 2 || rows !== count || !(data instanceof Float32Array))
    throw new UnusableModel(
      `it is no cross-encoder: its '${OUTPUT}' are ${logits.type} of the shape [${logits.dims.join(', ')}]`,
    );
  if (labels !== 1 && labels !== 2)
    throw new UnusableModel(
      `it is no cross-encoder for ranking: it has ${labels ?? 0} labels instead of 1 or 2`,
    );
  return Array.from({ length: count }, (_, row) =>
    sigmoid(labels === 1 ? data[row]! : data[2 * row + 1]! - data[2 * row]!),
  );
}

/**
 * Loads a model and tries it on one pair, which tells at once what of it does not fit.
 * @throws UnusableModel
 */
export async function loadCrossEncoder(paths: ModelPaths): Promise<CrossEncoder> {
  const config = await readJson(paths.config, 'config.json');
  const tokenizerConfig =
    paths.tokenizerConfig === null ? {} : await readJson(paths.tokenizerConfig, 'tokenizer_config.json');
  const tokenizerJson = await readJson(paths.tokenizer, 'tokenizer.json');
  const encoder = createPairEncoder(
    tokenizerJson,
    tokenizerConfig,
    readModelSettings(config, tokenizerConfig),
  );
  const session = await openSession(paths.model);
  const inputs = inputsOf(session);

  const feed: Record<Input, (pair: EncodedPair, place: number) => number> = {
    input_ids: ({ ids }, place) => ids[place] ?? encoder.padId,
    attention_mask: ({ ids }, place) => (place < ids.length ? 1 : 0),
    token_type_ids: ({ types }, place) => types[place] ?? 0,
  };
  const score = async (pairs: readonly EncodedPair[]): Promise<number[]> => {
    const width = Math.max(...pairs.map(({ ids }) => ids.length));
    const feeds = Object.fromEntries(inputs.map((name) => [name, tensorOf(pairs, width, feed[name])]));
    const scores = scoresOf((await session.run(feeds, [OUTPUT]))[OUTPUT]!, pairs.length);
    if (scores.some(Number.isNaN)) throw new Error('the model gives no number for a text');
    return scores;
  };
  await score([encoder.withQuery('a')('b')]).catch((error: unknown) => {
    if (error instanceof UnusableModel) throw error;
    throw new UnusableModel(`it cannot score a pair of texts: ${(error as Error).message}`);
  });
  return { withQuery: encoder.withQuery, score };
}
