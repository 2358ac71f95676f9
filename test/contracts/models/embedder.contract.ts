import { describe, expect, test } from '@jest/globals';
import type { Embedder } from '../../../activities/ports/models.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? Number.NaN), 0);
}

/** Vectors may differ in their last digits from one batch to another. */
const SAME = 0.999;

/** What every embedder holds to, whatever it runs on. Structure only: nothing about how good its vectors are. */
export function embedderContract(subject: Subject<Embedder>): void {
  describe(`embedder (${subject.name})`, () => {
    const embedder = useSubject(subject);
    const embed = (texts: readonly string[], kind: 'document' | 'query' = 'document') =>
      embedder().embed(texts, { kind });

    test('tells what it is', () => {
      expect(embedder()).toMatchObject({
        endpointName: expect.stringMatching(/./),
        modelName: expect.stringMatching(/./),
        vectorField: expect.stringMatching(/^[a-z0-9_]+$/),
      });
      expect(embedder().dimension).toBeGreaterThan(0);
      expect(embedder().batchSize).toBeGreaterThan(0);
      expect(embedder().maxInputTokens ?? 1).toBeGreaterThan(0);
    });

    test('gives a unit vector of its dimension for each text, in order', async () => {
      const texts = ['A ticket costs nine euros.', 'The dam was built in 1931.', 'Bread rises slowly.'];
      const vectors = await embed(texts);
      expect(vectors.map((vector) => vector.length)).toEqual(texts.map(() => embedder().dimension));
      for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 6);
      const alone = await Promise.all(texts.map((text) => embed([text])));
      alone.forEach(([vector = []], index) =>
        expect(dot(vector, vectors[index] ?? [])).toBeGreaterThan(SAME),
      );
      expect(dot(vectors[0] ?? [], vectors[1] ?? [])).toBeLessThan(SAME);
    });

    test('takes no text, and more texts than a batch holds', async () => {
      expect(await embed([])).toEqual([]);
      const texts = Array.from({ length: 2 * embedder().batchSize + 3 }, (_, index) => `text ${index}`);
      const vectors = await embed(texts);
      expect(vectors).toHaveLength(texts.length);
      const [last = []] = await embed(texts.slice(-1));
      expect(dot(last, vectors.at(-1) ?? [])).toBeGreaterThan(SAME);
    });

    test('a text with nothing in it has a defined vector, alone and among others', async () => {
      const [empty = [], full = [], blank = []] = await embed(['', 'words', ' \n\t ']);
      for (const vector of [empty, blank]) {
        expect(vector).toHaveLength(embedder().dimension);
        expect([0, 1]).toContain(Math.round(dot(vector, vector) * 1e6) / 1e6);
      }
      expect(dot(full, full)).toBeCloseTo(1, 6);
      expect((await embed(['']))[0]).toEqual(empty);
    });

    test('takes any text: accents, signs, other scripts, halves of characters', async () => {
      const texts = ['Zürich café naïve', '“a” – b = c~d^e|f`g<h>i$j+k', '東京 🗼', 'x\ud800y\0z', '…', '🙂'];
      for (const vector of await embed(texts)) {
        expect(vector).toHaveLength(embedder().dimension);
        expect(vector.every(Number.isFinite)).toBe(true);
      }
    });

    test('does not cut a text that is too long: its end counts', async () => {
      const long = Array.from({ length: 1500 }, (_, index) => `word${index % 50}`).join(' ');
      const [plain = [], other = []] = await embed([long, `${long} ${'zebra quartz '.repeat(300)}`]);
      expect(dot(plain, plain)).toBeCloseTo(1, 6);
      expect(dot(plain, other)).toBeLessThan(0.9999);
    });

    test('treats a query as a document', async () => {
      const [asked = []] = await embed(['How high is the café’s dam?'], 'query');
      const [stored = []] = await embed(['How high is the café’s dam?']);
      expect(dot(asked, stored)).toBeGreaterThan(SAME);
    });

    test('rejects with the reason of a signal that has aborted', async () => {
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(embedder().embed(['text'], { kind: 'document', signal })).rejects.toThrow('enough');
    });
  });
}
