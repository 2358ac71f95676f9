import { describe, expect, it } from '@jest/globals';
import { judgeAnswer, judgeSearch } from '../../../../activities/retrieval/evaluation/judge-question.js';
import type { JudgedEnd } from '../../../../activities/retrieval/evaluation/judge-question.js';
import type { ChatSource } from '../../../../activities/retrieval/chat/chat-sources.js';
import type { EvaluationQuestion } from '../../../../schemas/retrieval/evaluation.js';

function question(more: Partial<EvaluationQuestion> = {}): EvaluationQuestion {
  return {
    id: 'q',
    question: 'What flows?',
    relevant: ['river', 'sea'].map((file_id) => ({ file_id, passage: null, grade: 1 })),
    expected_answer: null,
    not_answerable: false,
    ...more,
  };
}

function source(fileId: string): ChatSource {
  return { chunk: { chunk_id: `c-${fileId}`, text: 'x' }, file: { file_id: fileId } } as ChatSource;
}

const PAGE: ChatSource = { url: 'https://example.org/', title: 't', snippet: 's' };

function end(cited: ChatSource[], more: Partial<JudgedEnd> = {}): JudgedEnd {
  const sources = { presented: cited, cited, supports: new Map(), reported: true, none: false };
  return { sources, refused: false, ...more };
}

function sentence(supported: boolean | null) {
  return { text: 'x', cited: [], supported, withheld: false };
}

describe('judgeSearch', () => {
  it('says nothing where nothing is relevant', () => {
    expect(judgeSearch(question({ relevant: [] }), [])).toEqual({});
    expect(judgeSearch(question(), [])).toEqual({ ndcg_10: 0, recall_10: 0, recall_50: 0, mrr: 0 });
  });

  it('tells the recall at 10 and at 50 apart', () => {
    const found = Array.from({ length: 60 }, (_, index) => ({
      chunkId: `${index}`,
      fileId: `f${index}`,
      text: '',
    }));
    found[2] = { chunkId: 'r', fileId: 'river', text: '' };
    found[40] = { chunkId: 's', fileId: 'sea', text: '' };
    const expected = 1 / Math.log2(4) / (1 + 1 / Math.log2(3));
    expect(judgeSearch(question(), found)).toEqual({
      ndcg_10: expect.closeTo(expected, 9),
      recall_10: 0.5,
      recall_50: 1,
      mrr: expect.closeTo(1 / 3, 9),
    });
  });
});

describe('judgeAnswer', () => {
  it('counts citations that are relevant, and relevant items that are cited', () => {
    const cited = [source('river'), source('lake'), PAGE, source('river')];
    expect(judgeAnswer(question(), 'The river.', end(cited))).toEqual({
      refused_wrong: 0,
      citation_precision: 0.5,
      citation_recall: 0.5,
    });
    expect(judgeAnswer(question(), 'The river.', end([]))).toEqual({ refused_wrong: 0, citation_recall: 0 });
  });

  it('counts sentences that claim something', () => {
    const sentences = [sentence(true), sentence(false), sentence(null), sentence(true)];
    expect(judgeAnswer(question({ relevant: [] }), 'x', end([], { sentences })).verified).toBeCloseTo(2 / 3);
    expect(judgeAnswer(question({ relevant: [] }), 'x', end([], { sentences: [sentence(null)] }))).toEqual({
      refused_wrong: 0,
    });
  });

  it('looks for the words of the expected answer', () => {
    const asked = question({ relevant: [], expected_answer: 'Heraclitus of Ephesus said it in 500 BC' });
    const recall = (answer: string, refused = false) =>
      judgeAnswer(asked, answer, end([], { refused })).answer_recall;
    expect(recall('It was said by Heraclitus of Ephesus (500 BC).')).toBe(1);
    expect(recall('Heraclitus')).toBeCloseTo(1 / 5);
    expect(recall('Heraclitus of Ephesus said it in 500 BC', true)).toBe(0);
    expect(judgeAnswer(question({ expected_answer: 'The' }), 'x', end([])).answer_recall).toBe(1);
  });

  it('knows a refusal that is right from one that is wrong', () => {
    const refusal = end([], { refused: true });
    expect(judgeAnswer(question({ relevant: [], not_answerable: true }), '', refusal)).toEqual({
      refused_right: 1,
    });
    expect(judgeAnswer(question({ relevant: [], not_answerable: true }), 'x', end([source('sea')]))).toEqual({
      refused_right: 0,
    });
    expect(judgeAnswer(question(), '', refusal)).toEqual({ refused_wrong: 1, citation_recall: 0 });
  });
});
