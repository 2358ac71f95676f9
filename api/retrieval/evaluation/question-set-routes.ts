import { z } from 'zod';
import { readQuestions } from '../../../activities/retrieval/evaluation/read-questions.js';
import type { LineProblem } from '../../../activities/retrieval/evaluation/read-questions.js';
import { AppError } from '../../../schemas/app-error.js';
import type { QuestionSetVersion } from '../../../schemas/retrieval/evaluation.js';
import {
  FromFeedbackBody,
  QuestionList,
  QuestionSet,
  QuestionSetBody,
  QuestionSetList,
  QuestionSetVersionBody,
  QuestionsQuery,
} from '../../../schemas/retrieval/evaluation-api.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { requireIdentifier } from '../../../activities/documents/commands/identifiers.js';
import { PartitionParams } from '../../http/identifiers.js';
import { invalidRequest } from '../../../schemas/request-issues.js';
import { empty, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { addQuestions, requireSet } from './add-questions.js';
import { questionsFromFeedback } from './questions-from-feedback.js';
import { requirePartitionKey } from './require-partition-key.js';

const SETS = '/evaluation/partition/{partition}/question-sets';
const SET = `${SETS}/{set}`;
const TAG = 'Evaluation';

const SetParams = PartitionParams.extend({ set: z.string() });

/** Question sets of a partition. A set is made, and changed, by uploading a version of it. */
export function questionSetRoutes({ adapters }: GatewayDeps): Route[] {
  const { partitions, questionSets: sets } = adapters;

  return [
    route({
      method: 'get',
      path: SETS,
      summary: 'Question sets of the partition, the newest version of each',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'By name', schema: QuestionSetList } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const key = await requirePartitionKey(partitions, params.partition);
        return json(200, { question_sets: (await sets.list(key)).map(present) });
      },
    }),
    route({
      method: 'post',
      path: SET,
      summary: 'Upload a question set, or a new version of it: JSON lines or CSV',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: SetParams, body: QuestionSetBody },
      responses: { 201: { description: 'The version', schema: QuestionSetVersionBody } },
      errors: [
        'PARTITION_NOT_FOUND',
        'BAD_REQUEST',
        'VALIDATION_ERROR',
        'PAYLOAD_TOO_LARGE',
        'EVALUATION_LIMIT_EXCEEDED',
        'CONFLICT',
      ],
      async handle({ principal }, { params, body }) {
        const key = await requirePartitionKey(partitions, params.partition);
        requireIdentifier('question set name', params.set);
        const read = readQuestions(body.format, body.content);
        if ('problems' in read) throw invalidRequest(read.problems.map(issueOf));
        const version = await addQuestions(sets, {
          partitionKey: key,
          name: params.set,
          note: body.note ?? null,
          userId: principal.userId,
          questions: read.questions,
        });
        return json(201, present(version));
      },
    }),
    route({
      method: 'get',
      path: SET,
      summary: 'The versions of a question set',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: SetParams },
      responses: { 200: { description: 'The set', schema: QuestionSet } },
      errors: ['PARTITION_NOT_FOUND', 'QUESTION_SET_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const key = await requirePartitionKey(partitions, params.partition);
        const versions = await sets.versions(key, params.set);
        if (versions.length === 0) throw new AppError('QUESTION_SET_NOT_FOUND');
        return json(200, { name: params.set, versions: versions.map(present) });
      },
    }),
    route({
      method: 'get',
      path: `${SET}/questions`,
      summary: 'The questions of a version',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: SetParams, query: QuestionsQuery },
      responses: { 200: { description: 'In the order of the upload', schema: QuestionList } },
      errors: ['PARTITION_NOT_FOUND', 'QUESTION_SET_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params, query }) {
        const key = await requirePartitionKey(partitions, params.partition);
        const { version_id, version, questions } = await requireSet(sets, key, params.set, query.version);
        return json(200, {
          version,
          total: questions,
          questions: await sets.questions(version_id, query.offset, query.limit),
        });
      },
    }),
    route({
      method: 'delete',
      path: SET,
      summary: 'Delete a question set with all its versions; runs over it stay',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: SetParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['PARTITION_NOT_FOUND', 'QUESTION_SET_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const key = await requirePartitionKey(partitions, params.partition);
        if (!(await sets.remove(key, params.set))) throw new AppError('QUESTION_SET_NOT_FOUND');
        return empty(204);
      },
    }),
    route({
      method: 'post',
      path: `${SET}/from-feedback`,
      summary: 'Add feedback to a question set, as a new version; the set is made where there is none',
      tag: TAG,
      auth: { partition: 'owner' },
      request: { params: SetParams, body: FromFeedbackBody },
      responses: { 201: { description: 'The version', schema: QuestionSetVersionBody } },
      errors: [
        'PARTITION_NOT_FOUND',
        'BAD_REQUEST',
        'VALIDATION_ERROR',
        'EVALUATION_LIMIT_EXCEEDED',
        'CONFLICT',
      ],
      async handle({ principal }, { params, body }) {
        const key = await requirePartitionKey(partitions, params.partition);
        requireIdentifier('question set name', params.set);
        const version = await questionsFromFeedback(adapters, {
          partitionKey: key,
          name: params.set,
          note: body.note ?? null,
          userId: principal.userId,
          judged: body.feedback,
        });
        return json(201, present(version));
      },
    }),
  ];
}

function issueOf({ line, message }: LineProblem) {
  return { type: 'question', loc: ['body', 'content', line], msg: `Line ${line}: ${message}`, input: null };
}

function present({ version_id: _id, partition_key: _key, created_at: at, ...version }: QuestionSetVersion) {
  return { ...version, created_at: at.toISOString() };
}
