import { describe, expect, test } from '@jest/globals';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { countedClauses, questionWords } from '../../../activities/stores/opensearch/question-words.js';
import { createTermCounter } from '../../../activities/stores/opensearch/term-weights.js';
import type { WordClause } from '../../../activities/stores/opensearch/term-weights.js';

interface CountRequest {
  aggs: { words?: { filters: { filters: Record<string, object> } } };
}

/** An engine that says of every clause that it holds of one chunk, and how many clauses it was asked for each time. */
function countingEngine() {
  const asked: number[] = [];
  const state = { generation: 1 };
  const client: OpenSearchClient = {
    request: async <Answer>(_method: string, _path: string, request: { body?: object } = {}) => {
      const { aggs } = request.body as CountRequest;
      const places = Object.keys(aggs.words?.filters.filters ?? {});
      asked.push(places.length);
      const value = state.generation;
      return {
        hits: { total: { value: 10 } },
        aggregations: {
          sum: { value },
          last: { value },
          words: { buckets: Object.fromEntries(places.map((place) => [place, { doc_count: 1 }])) },
        },
      } as Answer;
    },
  };
  return { counter: createTermCounter(client, 'chunks'), asked, state };
}

function clausesOf(question: number, count = 50): WordClause[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'match',
    field: 'text',
    word: `w${question}-${index}`,
  }));
}

describe('counted words', () => {
  test('are kept of thousands of questions to the same partitions', async () => {
    const { counter, asked } = countingEngine();
    for (let question = 0; question < 2_000; question += 1) await counter.count(['p'], clausesOf(question));
    for (let question = 0; question < 2_000; question += 1)
      expect(counter.known(['p'], clausesOf(question))).not.toBeNull();
    expect(asked).toHaveLength(2_000);
  });

  test('are forgotten of the partitions that were asked for longest ago, and counted again', async () => {
    const { counter, asked } = countingEngine();
    await counter.count(['seldom'], clausesOf(0));
    await counter.count(['often'], clausesOf(0));
    for (let question = 0; question < 5_000; question += 1) {
      await counter.count([`p${question}`], clausesOf(question));
      expect(counter.known(['often'], clausesOf(0))).not.toBeNull();
    }
    expect(counter.known(['seldom'], clausesOf(0))).toBeNull();
    asked.length = 0;
    const { holding } = await counter.count(['seldom'], clausesOf(0));
    expect(asked).toEqual([50]);
    expect(clausesOf(0).map(holding)).toEqual(clausesOf(0).map(() => 1));
  });

  test('of one question are whole, also where its partitions fill all there is room for', async () => {
    const { counter } = countingEngine();
    for (let question = 0; question < 450; question += 1) {
      const clauses = [...clausesOf(0, 10), ...clausesOf(question, 500)];
      const { holding } = await counter.count(['p'], clauses);
      expect(clauses.every((clause) => holding(clause) === 1)).toBe(true);
    }
  });

  test('are counted together again when the partitions hold another version', async () => {
    const { counter, asked, state } = countingEngine();
    await counter.count(['p'], clausesOf(0));
    state.generation = 2;
    await counter.count(['p'], [...clausesOf(0), ...clausesOf(1)]);
    expect(asked).toEqual([50, 50, 100]);
  });
});

describe('a question', () => {
  const clausesIn = (text: string): string[] => {
    const words = questionWords({ scope: { kind: 'all', userId: 1 }, partitions: ['p'], text, size: 1 })!;
    return countedClauses(words).map(({ field, word }) => `${field}: ${word}`);
  };

  test('has each word counted once, by its stem, and stop words as the analyzer of stems has them', () => {
    expect(clausesIn('what is the thickness of a boundary layer').sort()).toEqual(
      ['a', 'boundary', 'is', 'layer', 'of', 'the', 'thickness', 'what'].map((word) => `text.en: ${word}`),
    );
  });

  test('of stop words alone has them counted as they stand there', () => {
    expect(clausesIn('what is the')).toEqual(expect.arrayContaining(['text: is', 'text: the', 'text: what']));
  });

  test('in Katakana and in scripts of South-East Asia is cut where the index cuts', () => {
    const words = (text: string) => [...new Set(clausesIn(text).map((clause) => clause.split(': ')[1]))];
    expect(words('クラウドの料金')).toEqual(['クラウド', 'の', '料', '金']);
    expect(words('การประชุม ประจำปี').sort()).toEqual(['การประชุม', 'ประจำปี'].sort());
  });

  test.each(['word said the mill ', 'การประชุมประจำปีของบริษัท', 'APIキーの再発行', 'a,', 'x'])(
    'of a hundred thousand characters is read like any other: %s',
    (unit) => {
      expect(clausesIn(unit.repeat(Math.ceil(100_000 / unit.length))).length).toBeLessThan(60);
    },
  );

  test('in no known language has its words counted by both stems', () => {
    expect(clausesIn('zyzzyva').sort()).toEqual(['text.en: zyzzyva', 'text.fr: zyzzyva', 'text: zyzzyva']);
  });
});
