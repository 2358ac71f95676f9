import { describe, expect, it, jest } from '@jest/globals';
import { createHashEmbedder } from '../../../../activities/models/builtin/hash-embedder.js';
import type { Embedder } from '../../../../activities/ports/models.js';
import { currentRequestId, inRequest } from '../../../../activities/request-scope.js';
import { createCompetences, measureCompetence } from '../../../../activities/retrieval/search/competence.js';
import { SENTENCE_PAIRS } from '../../../../activities/retrieval/search/sentence-pairs.js';
import { foldText, wordsOf } from '../../../../activities/text/fold-text.js';
import { languageOf } from '../../../../activities/text/language-of.js';
import { lightStem } from '../../../../activities/text/light-stem.js';
import { isStopWord } from '../../../../activities/text/stop-words.js';
import { seededRandom } from '../../../support/seeded-random.js';

const LANGUAGES = ['en', 'fr'] as const;
const ENGLISH = 'where is the mill?';
const FRENCH = 'où est le moulin ?';

function embedderOf(
  embed: (texts: readonly string[]) => number[][] | Promise<number[][]>,
  name = 'some',
): Embedder {
  return {
    endpointName: name,
    modelName: name,
    dimension: 40,
    vectorField: `vector_${name}`,
    batchSize: 8,
    maxInputTokens: null,
    embed: async (texts) => embed(texts),
  };
}

/** Knows the pairs of one language by heart, and tells nothing else apart. */
function expertIn(language: 'en' | 'fr', wrong = 0) {
  return (texts: readonly string[]): number[][] =>
    texts.map((text) => {
      const place = SENTENCE_PAIRS[language].findIndex((pair) => pair.includes(text));
      const isQuestion = SENTENCE_PAIRS[language][place]?.[0] === text;
      const answer = isQuestion && place < wrong ? place + 1 : place;
      return SENTENCE_PAIRS[language].map((_, index) => (place === -1 || index === answer ? 1 : 0));
    });
}

/** Answers when it is let go. */
function heldEmbedder() {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const embed = jest.fn(async (texts: readonly string[]) => {
    await held;
    return expertIn('en')(texts);
  });
  return { embedder: embedderOf(embed), embed, letGo };
}

describe('the sentence pairs', () => {
  it.each(LANGUAGES)(
    'of %s are twenty, in that language, with no word in common but stop words',
    (language) => {
      const pairs = SENTENCE_PAIRS[language];
      expect(new Set(pairs.flat()).size).toBe(40);
      expect(pairs).toHaveLength(20);
      for (const pair of pairs) {
        const [question, answer] = pair.map(
          (text) =>
            new Set(
              wordsOf(foldText(text))
                .filter((word) => !isStopWord(word))
                .map(lightStem),
            ),
        );
        expect([pair[0], [...question!].filter((word) => answer!.has(word))]).toEqual([pair[0], []]);
      }
      expect(languageOf(pairs.flat().join(' '))).toBe(language);
    },
  );
});

describe('measureCompetence', () => {
  it('is 1 for who finds all answers, falls with each that is missed, and is 0 for who tells none apart', async () => {
    expect(await measureCompetence(embedderOf(expertIn('en')), 'en')).toBe(1);
    expect(await measureCompetence(embedderOf(expertIn('en', 10)), 'en')).toBeCloseTo((0.5 - 0.05) / 0.95);
    expect(await measureCompetence(embedderOf(expertIn('en')), 'fr')).toBe(0);
    expect(
      await measureCompetence(
        embedderOf((texts) => texts.map(() => [0])),
        'en',
      ),
    ).toBe(0);
  });

  it('is about 0 for who embeds at random', async () => {
    const random = seededRandom(7);
    const embed = (texts: readonly string[]) =>
      texts.map(() => Array.from({ length: 40 }, () => random() - 0.5));
    const measured = [];
    for (let run = 0; run < 20; run += 1) measured.push(await measureCompetence(embedderOf(embed), 'en'));
    expect(measured.reduce((sum, one) => sum + one, 0) / measured.length).toBeLessThan(0.1);
  });

  it.each(LANGUAGES)('is near 0 for the built-in embedder in %s: it knows words alone', async (language) => {
    const builtin = createHashEmbedder({ endpointName: 'builtin-hash', vectorField: 'vector' });
    expect(await measureCompetence(builtin, language)).toBeLessThan(0.15);
  });

  it('takes one call', async () => {
    const embed = jest.fn(expertIn('fr'));
    await measureCompetence(embedderOf(embed), 'fr');
    expect(embed).toHaveBeenCalledTimes(1);
  });
});

describe('createCompetences', () => {
  it('measures an embedder once in each language, however many questions come at once', async () => {
    const competences = createCompetences();
    const { embedder, embed, letGo } = heldEmbedder();
    const asked = [competences.of(embedder, ENGLISH), competences.of(embedder, 'who is there?')];
    letGo();
    expect(await Promise.all(asked)).toEqual([1, 1]);
    expect(await competences.of(embedder, ENGLISH)).toBe(1);
    expect(embed).toHaveBeenCalledTimes(1);
    expect(await competences.of(embedder, FRENCH)).toBe(0);
    expect(embed).toHaveBeenCalledTimes(2);
    const other = jest.fn(expertIn('fr'));
    expect(await competences.of(embedderOf(other, 'other'), FRENCH)).toBe(1);
    expect(other).toHaveBeenCalledTimes(1);
  });

  it('knows nothing of a text whose language it cannot tell, nor of the built-in embedder, and asks no model', async () => {
    const embed = jest.fn(expertIn('en'));
    expect(await createCompetences().of(embedderOf(embed), 'turbine 4711')).toBeNull();
    // Its weight is its own in all languages.
    expect(await createCompetences().of(embedderOf(embed, 'builtin/hash-1024'), ENGLISH)).toBeNull();
    expect(embed).not.toHaveBeenCalled();
  });

  it('does without while a model fails, says so once, and tries again after a minute', async () => {
    let now = 0;
    const warn = jest.fn();
    const competences = createCompetences({ now: () => now, log: { warn } });
    const embed = jest.fn(async (texts: readonly string[]) => {
      if (now === 0) throw new Error('no model');
      return expertIn('en')(texts);
    });
    for (let search = 0; search < 3; search += 1)
      expect(await competences.of(embedderOf(embed), ENGLISH)).toBeNull();
    expect(embed).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledTimes(1);
    now = 60_001;
    expect(await competences.of(embedderOf(embed), ENGLISH)).toBe(1);
    expect(embed).toHaveBeenCalledTimes(2);
  });

  it('lets no search wait for a slow model longer than that, and knows the result afterwards', async () => {
    const competences = createCompetences({ waitMs: 1 });
    const { embedder, embed, letGo } = heldEmbedder();
    expect(await competences.of(embedder, ENGLISH)).toBeNull();
    expect(await competences.of(embedder, ENGLISH)).toBeNull();
    letGo();
    await embed.mock.results[0]!.value;
    // The measurement ends a few turns behind its call.
    let known: number | null = null;
    for (let turn = 0; turn < 20 && known === null; turn += 1)
      known = await competences.of(embedder, ENGLISH);
    expect(known).toBe(1);
    expect(embed).toHaveBeenCalledTimes(1);
  });

  it('is no part of the request that came first', async () => {
    const seen: unknown[] = [];
    const embed = (texts: readonly string[]) => {
      seen.push(currentRequestId());
      return expertIn('en')(texts);
    };
    await inRequest('first', () => createCompetences().of(embedderOf(embed), ENGLISH));
    expect(seen).toEqual([undefined]);
  });
});
