import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { wordFeedback } from '../../../../activities/retrieval/search/word-feedback.js';

function rankingOf(scores: Record<string, number>) {
  return Object.entries(scores).map(([id, score]) => ({ id, score }));
}

function idsOf(ranking: readonly { id: string }[] | undefined): string[] {
  return (ranking ?? []).map(({ id }) => id);
}

describe('wordFeedback', () => {
  const texts = new Map([
    ['first', 'The undershot wheel turns slowly; the undershot wheel needs no weir.'],
    ['second', 'Of bread and its baking.'],
    ['third', 'An undershot wheel of oak.'],
    ['fourth', 'Cheese ripens in cellars.'],
  ]);

  test('moves up what uses the words of the best hits', () => {
    const answer = wordFeedback(rankingOf({ first: 0.9, second: 0.51, third: 0.5, fourth: 0.1 }), texts);
    expect(idsOf(answer?.ranking)).toEqual(['first', 'third', 'second', 'fourth']);
    expect(answer?.scores[0]).toEqual({ id: 'first', score: 1 });
    expect(answer?.ranking[0]?.score).toBeCloseTo(0.7 * 0.9 + 0.3);
    const words = answer?.words.map(({ word }) => word);
    expect(words).toContain('undershot');
    expect(words).not.toContain('the');
    expect(words).not.toContain('of');
  });

  test('keeps what has no text, by its own score alone', () => {
    const answer = wordFeedback(rankingOf({ first: 0.9, unread: 0.55, third: 0.5, fourth: 0.1 }), texts);
    expect(idsOf(answer?.ranking)).toEqual(['first', 'third', 'unread', 'fourth']);
    expect(answer?.ranking.find(({ id }) => id === 'unread')?.score).toBeCloseTo(0.7 * 0.55);
  });

  test('counts characters as words where there are no spaces', () => {
    const answer = wordFeedback(
      rankingOf({ one: 0.9, two: 0.51, three: 0.5 }),
      new Map([
        ['one', '水車は川の水で回る'],
        ['two', 'パンを焼く朝'],
        ['three', '古い水車小屋と川'],
      ]),
    );
    expect(idsOf(answer?.ranking)).toEqual(['one', 'three', 'two']);
  });

  test('says nothing of one text, of none, and of texts without words', () => {
    const ranking = rankingOf({ first: 0.9, second: 0.5 });
    expect(wordFeedback([], texts)).toBeNull();
    expect(wordFeedback(ranking.slice(0, 1), texts)).toBeNull();
    expect(wordFeedback(ranking, new Map())).toBeNull();
    expect(
      wordFeedback(
        ranking,
        new Map([
          ['first', '— … —'],
          ['second', ''],
        ]),
      ),
    ).toBeNull();
  });

  test('takes texts of any size and kind, keeps every hit, and answers the same again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.constantFrom(
        'a'.repeat(100_000),
        'ab '.repeat(50_000),
        '\u0301'.repeat(50_000),
        '水'.repeat(50_000),
      ),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 70 }), (bodies) => {
        const ranking = bodies.map((_, place) => ({ id: `c-${place}`, score: 1 / (place + 1) }));
        const byId = new Map(bodies.map((body, place) => [`c-${place}`, body]));
        const answer = wordFeedback(ranking, byId);
        if (answer === null) return;
        expect(idsOf(answer.ranking).sort()).toEqual(idsOf(ranking).sort());
        for (const { score } of [...answer.ranking, ...answer.scores]) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
        }
        expect(wordFeedback(ranking, byId)).toEqual(answer);
      }),
      { numRuns: 50 },
    );
  });
});
