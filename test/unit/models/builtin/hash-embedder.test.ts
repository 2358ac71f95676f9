import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createHashEmbedder } from '../../../../activities/models/builtin/hash-embedder.js';
import { HASH_DIMENSION, hashVector } from '../../../../activities/models/builtin/hash-vector.js';
import { PARAGRAPHS } from './paragraphs.js';

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

const embedder = createHashEmbedder({ endpointName: 'builtin-hash', vectorField: 'vector_builtin_hash' });

describe('hashVector', () => {
  test('has unit length and 1,024 finite numbers for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const vector = hashVector(text);
        expect(vector).toHaveLength(HASH_DIMENSION);
        expect(Math.sqrt(dot(vector, vector))).toBeCloseTo(1, 9);
      }),
    );
  });

  test.each(['', '   \n\t', '—', '+++ !!! ???', '🙂', '\ud800', '\u0301'])(
    'gives a unit vector for %j, which has no word',
    (text) => {
      const vector = hashVector(text);
      expect(dot(vector, vector)).toBeCloseTo(1, 9);
    },
  );

  test('is the same on every machine', () => {
    const digest = createHash('sha256');
    for (const text of PARAGRAPHS)
      digest.update(
        hashVector(text)
          .map((value) => value.toFixed(9))
          .join(),
      );
    expect(digest.digest('hex')).toBe(EXPECTED_DIGEST);
  });

  test('does not see case, accents or compatibility forms', () => {
    expect(hashVector('ÉTÉ à la ﬁn du cœur')).toEqual(hashVector('ete a la fin du coeur'));
  });

  test.each([
    ['installing the pumps', 'the pump was installed', 'a letter about taxes'],
    ['les installations électriques', 'installation électrique', 'le prix du pain'],
    ['東京都庁舎の展望室', '東京の展望台', '大阪城公園'],
  ])('puts %j nearer to %j than to %j', (text, near, far) => {
    const vector = hashVector(text);
    expect(dot(vector, hashVector(near))).toBeGreaterThan(dot(vector, hashVector(far)) + 0.1);
  });

  test('takes time in proportion to the text, also without spaces', () => {
    hashVector('x'.repeat(1_000_000));
    hashVector('mot '.repeat(250_000));
    hashVector('é'.repeat(1_000_000));
    // Not linear would not end within the time limit of the test.
  });

  test('finds most paragraphs by a few words from their middle', () => {
    const vectors = PARAGRAPHS.map((text) => hashVector(text));
    const reciprocal = PARAGRAPHS.map((text, index) => {
      const words = text.split(/\s+/);
      const middle = Math.floor(words.length / 2);
      const query = hashVector(words.slice(middle - 3, middle + 4).join(' '));
      const own = dot(query, vectors[index]!);
      return 1 / vectors.filter((vector) => dot(query, vector) >= own).length;
    });
    expect(reciprocal.reduce((a, b) => a + b, 0) / reciprocal.length).toBeGreaterThan(0.9);
  });
});

describe('createHashEmbedder', () => {
  test('answers in the order of the texts', async () => {
    const texts = Array.from({ length: 50 }, (_, index) => `text number ${index}`);
    expect(await embedder.embed(texts, { kind: 'document' })).toEqual(texts.map((text) => hashVector(text)));
    expect(await embedder.embed([], { kind: 'document' })).toEqual([]);
  });

  test('stops when the signal aborts and leaves the event loop free meanwhile', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 5);
    const texts = Array.from({ length: 100_000 }, (_, index) => `a text of some words, number ${index}`);
    await expect(embedder.embed(texts, { kind: 'document', signal: controller.signal })).rejects.toThrow(
      'enough',
    );
  });

  test('does as much in a turn of the event loop for many calls as for one', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(800).slice(0, 1_600));
    let turns = 0;
    let done = false;
    const calls = Promise.all(Array.from({ length: 10 }, () => embedder.embed(texts, { kind: 'document' })));
    const finished = calls.then(() => (done = true));
    while (!done) {
      await turn();
      turns += 1;
    }
    await finished;
    expect(turns).toBeGreaterThanOrEqual((10 * 20 * 1_600) / 16_000 - 1);
  });

  test('depends on no locale and no randomness', () => {
    const source = ['models/builtin/hash-vector', 'text/fold-text', 'models/builtin/hash-embedder'].map(
      (name) => readFileSync(new URL(`../../../../activities/${name}.ts`, import.meta.url), 'utf8'),
    );
    expect(source.join('').replace(/never `toLocaleLowerCase`/, '')).not.toMatch(
      /Math\.random|toLocale|Intl\.|localeCompare/,
    );
  });
});

/** SHA-256 over the vectors of the paragraphs, nine decimals each. A change here is a new model: rename it. */
const EXPECTED_DIGEST = '3ad006b5e4c897af2f294764e0ffb83ba1495b8f0a00796cf396d5ae15a41099';
