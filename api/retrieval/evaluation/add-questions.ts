import type { QuestionSetStore } from '../../../activities/ports/evaluation.js';
import { AppError } from '../../../schemas/app-error.js';
import type { EvaluationQuestion, QuestionSetVersion } from '../../../schemas/retrieval/evaluation.js';

/** Of a partition. */
const MAX_SETS = 100;
/** Of a set: with each upload beyond, the oldest goes. */
const KEPT_VERSIONS = 20;

/** @throws AppError QUESTION_SET_NOT_FOUND */
export async function requireSet(
  sets: Pick<QuestionSetStore, 'get'>,
  partitionKey: string,
  name: string,
  version: number | null | undefined,
): Promise<QuestionSetVersion> {
  const found = await sets.get(partitionKey, name, version ?? null);
  if (found !== null) return found;
  const which = version == null ? '' : ` of version ${version}`;
  throw new AppError('QUESTION_SET_NOT_FOUND', `There is no question set '${name}'${which}.`);
}

/**
 * Stores a new version of a set.
 * @throws AppError EVALUATION_LIMIT_EXCEEDED; CONFLICT when the set is deleted meanwhile, or is no longer at `after`
 */
export async function addQuestions(
  sets: QuestionSetStore,
  added: {
    partitionKey: string;
    name: string;
    note: string | null;
    userId: number;
    questions: readonly EvaluationQuestion[];
    /** The version that they were made from; left out: none. */
    after?: number | null;
  },
): Promise<QuestionSetVersion> {
  const { partitionKey: partition_key, name, note, userId, questions, after } = added;
  const others = (await sets.list(partition_key)).filter((set) => set.name !== name);
  if (others.length >= MAX_SETS)
    throw new AppError('EVALUATION_LIMIT_EXCEEDED', `A partition has at most ${MAX_SETS} question sets.`);
  const set = { partition_key, name, note, created_by: String(userId) };
  return sets.add(set, questions, KEPT_VERSIONS, after);
}
