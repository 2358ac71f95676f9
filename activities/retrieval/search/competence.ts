import { isBuiltin } from '../../models/builtin/builtin-endpoints.js';
import type { Embedder } from '../../ports/models.js';
import { outsideRequests } from '../../request-scope.js';
import { languageOf } from '../../text/language-of.js';
import { SENTENCE_PAIRS } from './sentence-pairs.js';

/** How far a search waits for a measurement, from the measurement's start: searches behind the first wait less. */
const WAIT_MS = 5000;
/** A model that has not embedded forty sentences by then is left alone. */
const GIVE_UP_MS = 60_000;
/** After a failure. */
const AGAIN_MS = 60_000;

/** Where it is told that an embedder could not be measured. */
export interface CompetenceLog {
  warn(of: object, words: string): void;
}

export interface Competences {
  /**
   * How well an embedder understands the language of a question, 0 (no better than chance) to 1. Null: not known, as of
   * a text whose language cannot be told, or while the model does not answer; or not wanted, as of the built-in
   * embedder, which knows words alone in every language. Never rejects.
   */
  of(embedder: Embedder, text: string): Promise<number | null>;
}

function nearest(vector: readonly number[], candidates: readonly (readonly number[])[]): number | null {
  const products = candidates.map((other) =>
    vector.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0),
  );
  const best = Math.max(...products);
  const places = products.flatMap((product, place) => (product === best ? [place] : []));
  // Who finds two answers alike has not told them apart.
  return places.length === 1 ? places[0]! : null;
}

/**
 * Share of questions whose own answer is nearest among all answers of the language, moved so that what chance would
 * find is 0.
 * @throws what the embedder throws
 */
export async function measureCompetence(
  embedder: Embedder,
  language: keyof typeof SENTENCE_PAIRS,
  signal?: AbortSignal,
): Promise<number> {
  const pairs = SENTENCE_PAIRS[language];
  const vectors = await embedder.embed(
    [...pairs.map(([question]) => question), ...pairs.map(([, answer]) => answer)],
    { kind: 'document', ...(signal && { signal }) },
  );
  const answers = vectors.slice(pairs.length);
  const right = pairs.filter((_, place) => nearest(vectors[place] ?? [], answers) === place).length;
  const chance = 1 / pairs.length;
  return Math.max(0, (right / pairs.length - chance) / (1 - chance));
}

interface Measured {
  competence: Promise<number | null>;
  /** The same, or null once searches need not wait for it any more. */
  inTime: Promise<number | null>;
  /** Failed: not before this time again. */
  againAt: number;
}

/**
 * Measures each embedder once in each language that is asked in, with the first question of it; questions that come
 * meanwhile wait for the same measurement. It belongs to no request: neither its end nor its budget concerns it.
 */
export function createCompetences(
  options: { now?: () => number; waitMs?: number; log?: CompetenceLog } = {},
): Competences {
  const { now = () => performance.now(), waitMs = WAIT_MS, log } = options;
  const known = new Map<string, Measured>();

  const begin = (embedder: Embedder, language: keyof typeof SENTENCE_PAIRS): Measured => {
    const measured: Measured = {
      competence: outsideRequests(() =>
        measureCompetence(embedder, language, AbortSignal.timeout(GIVE_UP_MS)),
      ).catch((error: unknown) => {
        measured.againAt = now() + AGAIN_MS;
        const { endpointName } = embedder;
        log?.warn(
          { err: error, embedder: endpointName, language },
          'it could not be measured how well an embedder understands a language; its vectors weigh by agreement',
        );
        return null;
      }),
      inTime: Promise.resolve(null),
      againAt: Infinity,
    };
    measured.inTime = new Promise((resolve) => {
      const late = setTimeout(() => resolve(null), waitMs);
      late.unref();
      void measured.competence.then((competence) => {
        clearTimeout(late);
        // What came late holds for all searches from now on.
        measured.inTime = measured.competence;
        resolve(competence);
      });
    });
    return measured;
  };

  return {
    async of(embedder, text) {
      const language = isBuiltin(embedder) ? null : languageOf(text);
      if (language === null) return null;
      const { endpointName, modelName, vectorField, dimension } = embedder;
      const key = JSON.stringify([endpointName, modelName, vectorField, dimension, language]);
      let measured = known.get(key);
      if (measured === undefined || measured.againAt <= now()) {
        measured = begin(embedder, language);
        known.set(key, measured);
      }
      return measured.inTime;
    },
  };
}
