import type { z } from 'zod';
import type { Adapters } from '../../../activities/ports/adapters.js';
import {
  QUESTION_LIMITS,
  questionIdOf,
  whyUnfit,
} from '../../../activities/retrieval/evaluation/read-questions.js';
import { AppError } from '../../../schemas/app-error.js';
import type {
  EvaluationQuestion,
  FeedbackRecord,
  QuestionSetVersion,
  RelevantItem,
} from '../../../schemas/retrieval/evaluation.js';
import type { FromFeedbackBody } from '../../../schemas/retrieval/evaluation-api.js';
import { invalidRequest } from '../../../schemas/request-issues.js';
import { addQuestions } from './add-questions.js';

/** So much feedback is read at a time: with its answer and its sources one may hold 200 kB. */
export const FEEDBACK_PAGE = 50;

type Judged = z.output<typeof FromFeedbackBody>['feedback'][number];

/**
 * A new version of a set: its questions, and behind them those of the feedback. A question whose text the set has
 * already is replaced and keeps its id. An answer with thumbs up says by what it cites which files are relevant; of one
 * with thumbs down the owner says what is relevant.
 * @throws AppError VALIDATION_ERROR with the place of each entry that makes no question; and as `addQuestions`
 */
export async function questionsFromFeedback(
  { questionSets: sets, feedback }: Pick<Adapters, 'questionSets' | 'feedback'>,
  asked: {
    partitionKey: string;
    name: string;
    note: string | null;
    userId: number;
    judged: readonly Judged[];
  },
): Promise<QuestionSetVersion> {
  const { partitionKey, name, judged } = asked;
  const ids = judged.map(({ feedback_id: id }) => id);
  const made: (EvaluationQuestion | string)[] = [];
  for (let at = 0; at < judged.length; at += FEEDBACK_PAGE) {
    const found = await feedback.getMany(partitionKey, ids.slice(at, at + FEEDBACK_PAGE));
    const records = new Map(found.map((record) => [record.feedback_id, record]));
    for (const entry of judged.slice(at, at + FEEDBACK_PAGE)) {
      const record = records.get(entry.feedback_id);
      made.push(record === undefined ? 'There is no such feedback.' : questionOf(record, entry));
    }
  }
  const issues = made.flatMap((question, index) =>
    typeof question === 'string'
      ? [{ type: 'feedback', loc: ['body', 'feedback', index], msg: question, input: null }]
      : [],
  );
  if (issues.length > 0) throw invalidRequest(issues);

  const present = await sets.get(partitionKey, name, null);
  const kept = present === null ? [] : await sets.questions(present.version_id, 0, QUESTION_LIMITS.questions);
  const idOf = new Map(kept.map(({ id, question }) => [question, id]));
  const added = new Map(
    made.flatMap((question) => {
      if (typeof question === 'string') return [];
      const id = idOf.get(question.question) ?? question.id;
      return [[id, { ...question, id }] as const];
    }),
  );
  const questions = [...kept.filter(({ id }) => !added.has(id)), ...added.values()];
  if (questions.length > QUESTION_LIMITS.questions)
    throw new AppError(
      'EVALUATION_LIMIT_EXCEEDED',
      `A set has at most ${QUESTION_LIMITS.questions} questions.`,
    );
  const version = await addQuestions(sets, { ...asked, questions, after: present?.version ?? null });
  await feedback.markUsed(partitionKey, ids, name);
  return version;
}

/** Or why it makes none. */
function questionOf(record: FeedbackRecord, entry: Judged): EvaluationQuestion | string {
  const { question, rating, sources } = record;
  const { not_answerable, expected_answer: answer } = entry;
  const cited = [...new Set(sources.filter((source) => source.cited).map(({ file_id }) => file_id))];
  const byAnswer = rating === 'up' && !not_answerable ? cited : [];
  const relevant: RelevantItem[] =
    entry.relevant?.map(({ file_id, passage, grade }) => ({
      file_id: file_id ?? null,
      passage: passage ?? null,
      grade,
    })) ?? byAnswer.map((file_id) => ({ file_id, passage: null, grade: 1 }));
  if (!not_answerable && relevant.length === 0 && answer == null)
    return rating === 'up'
      ? "Its answer cites nothing: say what is 'relevant'."
      : "Of an answer with thumbs down, say what is 'relevant', the 'expected_answer', or that it is 'not_answerable'.";
  const made = {
    id: questionIdOf(question),
    question,
    relevant,
    expected_answer: answer ?? null,
    not_answerable,
  };
  return whyUnfit(made) ?? made;
}
