import { randomUUID } from 'node:crypto';
import type { QuestionSetStore } from '../../../../activities/ports/evaluation.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { EvaluationQuestion, QuestionSetVersion } from '../../../../schemas/retrieval/evaluation.js';
import { copyRecord } from '../copy-record.js';

/** Question sets in a list, in the order in which they were added. */
export function createFakeQuestionSetStore(): QuestionSetStore {
  let kept: { version: QuestionSetVersion; questions: EvaluationQuestion[] }[] = [];
  /** Newest first. */
  const versionsOf = (partitionKey: string, name?: string): QuestionSetVersion[] =>
    kept
      .map(({ version }) => version)
      .filter((one) => one.partition_key === partitionKey && (name === undefined || one.name === name))
      .reverse();
  const drop = (gone: readonly QuestionSetVersion[]): void => {
    kept = kept.filter(({ version }) => !gone.includes(version));
  };
  return {
    async add(set, questions, keep, after) {
      const last = versionsOf(set.partition_key, set.name)[0]?.version ?? 0;
      if (after !== undefined && last > (after ?? 0)) throw new AppError('CONFLICT');
      const version: QuestionSetVersion = {
        ...set,
        version_id: randomUUID(),
        version: last + 1,
        questions: questions.length,
        not_answerable: questions.filter((question) => question.not_answerable).length,
        created_at: new Date(),
      };
      kept.push({ version, questions: copyRecord([...questions]) });
      drop(versionsOf(set.partition_key, set.name).slice(keep));
      return copyRecord(version);
    },
    async list(partitionKey) {
      const newest = new Map<string, QuestionSetVersion>();
      for (const version of versionsOf(partitionKey).reverse()) newest.set(version.name, version);
      return copyRecord([...newest.values()].sort((one, other) => (one.name < other.name ? -1 : 1)));
    },
    async versions(partitionKey, name) {
      return copyRecord(versionsOf(partitionKey, name));
    },
    async get(partitionKey, name, version) {
      const found = versionsOf(partitionKey, name).find((one) => version === null || one.version === version);
      return copyRecord(found ?? null);
    },
    async questions(versionId, from, limit) {
      const found = kept.find(({ version }) => version.version_id === versionId);
      return copyRecord(found?.questions.slice(from, from + limit) ?? []);
    },
    async remove(partitionKey, name) {
      const gone = versionsOf(partitionKey, name);
      drop(gone);
      return gone.length > 0;
    },
    async removeAll(partitionKey) {
      drop(versionsOf(partitionKey));
    },
  };
}
