import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import type { FeedbackRecord, FeedbackSource } from '../../../schemas/retrieval/evaluation.js';
import {
  Feedback,
  FeedbackBody,
  FeedbackList,
  FeedbackQuery,
} from '../../../schemas/retrieval/evaluation-api.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { PartitionParams } from '../../http/identifiers.js';
import { empty, json, jsonList, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { FEEDBACK_PAGE } from './questions-from-feedback.js';
import { requirePartitionKey } from './require-partition-key.js';

const PATH = '/evaluation/partition/{partition}/feedback';
const TAG = 'Evaluation';
/** Of one user in a partition: with each beyond, the oldest goes. */
const KEPT = 1_000;

const FeedbackParams = PartitionParams.extend({ feedback_id: z.string() });

/** Thumbs up and down on answers. Users that may chat in a partition give them; its owners read them. */
export function feedbackRoutes({ adapters }: GatewayDeps): Route[] {
  const { partitions, feedback, chunks, files, users } = adapters;

  /** Of the named chunks those that are the partition's: an id is the client's word. */
  const sourcesIn = async (
    partitionKey: string,
    given: readonly { chunk_id: string; cited: boolean }[],
    signal: AbortSignal,
  ): Promise<FeedbackSource[]> => {
    const found = await chunks.getMany(
      given.map(({ chunk_id: id }) => id),
      signal,
    );
    const records = await files.getMany([...new Set([...found.values()].map(({ file_key }) => file_key))]);
    const taken = new Set<string>();
    return given.flatMap(({ chunk_id, cited }) => {
      const file = records.get(found.get(chunk_id)?.file_key ?? '');
      if (file?.partition_key !== partitionKey || taken.has(chunk_id)) return [];
      taken.add(chunk_id);
      return [{ chunk_id, file_id: file.file_id, cited }];
    });
  };

  /** In the order in which they were listed; those that are removed meanwhile are left out. */
  async function* rows(partitionKey: string, listed: readonly { feedback_id: string }[]) {
    for (let at = 0; at < listed.length; at += FEEDBACK_PAGE) {
      const ids = listed.slice(at, at + FEEDBACK_PAGE).map(({ feedback_id: id }) => id);
      const found = await feedback.getMany(partitionKey, ids);
      const records = new Map(found.map((record) => [record.feedback_id, record]));
      for (const id of ids) {
        const record = records.get(id);
        if (record !== undefined) yield present(record);
      }
    }
  }

  return [
    route({
      method: 'post',
      path: PATH,
      summary: 'Thumbs up or down on an answer of chat; what a user says of an answer anew replaces it',
      tag: TAG,
      auth: { partition: 'viewer' },
      request: { params: PartitionParams, body: FeedbackBody },
      responses: { 201: { description: 'What is kept', schema: Feedback } },
      errors: ['PARTITION_NOT_FOUND', 'VALIDATION_ERROR', 'VDB_CONNECTION_ERROR'],
      async handle({ principal, signal }, { params, body }) {
        const key = await requirePartitionKey(partitions, params.partition);
        const { userId } = principal;
        const { sources, comment, ...said } = body;
        const record = await feedback.put(
          {
            ...said,
            partition_key: key,
            user_id: userId,
            comment: comment ?? null,
            sources: await sourcesIn(key, sources, signal),
          },
          KEPT,
        );
        // Deleted in this moment: that deletion may have looked at the feedback already.
        if ((await users.get(userId)) === null) await feedback.removeUser(userId);
        return json(201, present(record));
      },
    }),
    route({
      method: 'get',
      path: PATH,
      summary: 'What users said of answers',
      tag: TAG,
      auth: { partition: 'owner' },
      request: { params: PartitionParams, query: FeedbackQuery },
      responses: { 200: { description: 'The newest first', schema: FeedbackList } },
      errors: ['PARTITION_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params, query: { rating, limit, offset } }) {
        const key = await requirePartitionKey(partitions, params.partition);
        const listed = await feedback.list(key, { limit, offset, ...(rating !== undefined && { rating }) });
        return jsonList('feedback', rows(key, listed));
      },
    }),
    route({
      method: 'delete',
      path: `${PATH}/{feedback_id}`,
      summary: 'Delete what a user said of an answer',
      tag: TAG,
      auth: { partition: 'owner' },
      request: { params: FeedbackParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['PARTITION_NOT_FOUND', 'NOT_FOUND'],
      async handle(_ctx, { params }) {
        const key = await requirePartitionKey(partitions, params.partition);
        if (!(await feedback.remove(key, params.feedback_id))) throw new AppError('NOT_FOUND');
        return empty(204);
      },
    }),
  ];
}

function present({ partition_key: _key, created_at, updated_at, ...record }: FeedbackRecord) {
  return { ...record, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
