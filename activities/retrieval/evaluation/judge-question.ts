import type { EvaluationQuestion, Measured } from '../../../schemas/retrieval/evaluation.js';
import { contentStems } from '../../text/question-terms.js';
import type { ChatEnd } from '../chat/chat-request.js';
import { isWebPage } from '../chat/chat-sources.js';
import type { SearchResult } from '../search/search-types.js';
import { matcherOf, rankRelevant } from './match-relevant.js';
import type { FoundText } from './match-relevant.js';
import { judgeRanking } from './measures.js';

export type JudgedEnd = Pick<ChatEnd, 'sources' | 'sentences' | 'refused'>;

export function foundText({ chunk, file }: Pick<SearchResult, 'chunk' | 'file'>): FoundText {
  return { chunkId: chunk.chunk_id, fileId: file.file_id, text: chunk.text };
}

/** What search found is worth; nothing where the question names no relevant item. */
export function judgeSearch({ relevant }: EvaluationQuestion, found: readonly FoundText[]): Measured {
  if (relevant.length === 0) return {};
  const { ranked, grades } = rankRelevant(relevant, found);
  return { ...judgeRanking(ranked, grades) };
}

/** The chunks that an answer cites. */
export function citedTexts({ sources }: Pick<ChatEnd, 'sources'>): FoundText[] {
  return sources.cited.flatMap((source) => (isWebPage(source) ? [] : [foundText(source)]));
}

/**
 * What an answer is worth. Of a question that can be answered:
 * - `citation_precision`: share of the cited sources that are relevant, where any is cited;
 * - `citation_recall`: share of the relevant items that are cited;
 * - `verified`: share of its sentences that their sources support, of those that claim something;
 * - `answer_recall`: share of the expected answer's content words that the answer has, by which people's judgement
 *   of correctness is met best among word measures (Adlakha et al.: Evaluating Correctness and Faithfulness of
 *   Instruction-Following Models for Question Answering, TACL 2024);
 * - `refused_wrong`: 1 where the answer says that the sources do not hold it.
 *
 * Of one that cannot be answered only `refused_right`: 1 where the answer says so.
 */
export function judgeAnswer(question: EvaluationQuestion, answer: string, end: JudgedEnd): Measured {
  const refused = end.refused ? 1 : 0;
  if (question.not_answerable) return { refused_right: refused };
  const claims = (end.sentences ?? []).filter(({ supported }) => supported !== null);
  return {
    refused_wrong: refused,
    ...judgeCitations(question, end),
    ...(claims.length > 0 && {
      verified: claims.filter(({ supported }) => supported === true).length / claims.length,
    }),
    ...(question.expected_answer !== null && {
      answer_recall: wordRecall(question.expected_answer, end.refused ? '' : answer),
    }),
  };
}

function judgeCitations({ relevant }: EvaluationQuestion, end: JudgedEnd): Measured {
  if (relevant.length === 0) return {};
  const match = matcherOf(relevant);
  const matched = citedTexts(end).map(match);
  const cited = end.sources.cited.length;
  return {
    citation_recall: new Set(matched.flat()).size / relevant.length,
    ...(cited > 0 && { citation_precision: matched.filter((items) => items.length > 0).length / cited }),
  };
}

function wordRecall(expected: string, answer: string): number {
  const wanted = contentStems(expected);
  const there = new Set(contentStems(answer));
  return wanted.length === 0 ? 1 : wanted.filter((stem) => there.has(stem)).length / wanted.length;
}
