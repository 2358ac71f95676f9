import { setTimeout } from 'node:timers/promises';
import type { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import type { EmbedderSwapRecord, SwapGates } from '../../../schemas/documents/embedder-swaps.js';
import {
  EmbedderSwap,
  EmbedderSwapBody,
  EmbedderSwapList,
  EmbedderSwapsBody,
  EmbedderSwapsStarted,
} from '../../../schemas/documents/embedder-swaps-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { PartitionParams } from '../../http/identifiers.js';
import { presentSwap } from './present-swap.js';
import { requireSwapTarget, startSwap } from '../../../activities/documents/commands/start-swap.js';
import { EVERYTHING } from '../../../schemas/documents/users.js';

const SWAP = '/partition/{partition}/embedder-swap';
const ALL = '/admin/embedder-swaps';
const TAG = 'Partitions';
const LISTED = 200;
/** A cancel is answered with what came of it, where that is known so soon. */
const CANCEL_MS = 3_000;
const LOOK_MS = 50;

/** Moves of partitions to another embedder, while searches go on. */
export function embedderSwapRoutes({ adapters, workflows }: GatewayDeps): Route[] {
  const { partitions, models, embedderSwaps: swaps } = adapters;

  const latestOf = async (name: string): Promise<EmbedderSwapRecord | null> => {
    const partition = await partitions.get(name);
    if (partition === null) throw new AppError('PARTITION_NOT_FOUND', undefined, { plain: true });
    return swaps.latest(partition.partition_key);
  };

  /** One that no workflow is at work on: it was terminated in Temporal. */
  const giveUp = async ({ partition, swap_id }: EmbedderSwapRecord): Promise<void> => {
    await partitions.endSwap(partition, swap_id, { switched: false });
    await swaps.finish(swap_id, { status: 'cancelled', error: null });
  };

  const cancel = async (name: string): Promise<EmbedderSwapRecord> => {
    const swap = await latestOf(name);
    if (swap?.status !== 'running') throw new AppError('EMBEDDER_SWAP_NOT_RUNNING');
    if (!(await workflows.cancelSwap(swap.partition_key))) await giveUp(swap);
    const until = Date.now() + CANCEL_MS;
    for (;;) {
      const present = (await swaps.get(swap.swap_id)) ?? swap;
      if (present.status !== 'running' || Date.now() >= until) return present;
      await setTimeout(LOOK_MS);
    }
  };

  return [
    route({
      method: 'get',
      path: SWAP,
      summary: "The partition's move to another embedder, the last one; null when there never was one",
      tag: TAG,
      auth: { partition: 'viewer' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'The move', schema: EmbedderSwap.nullable() } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const swap = await latestOf(params.partition);
        return json(200, swap && presentSwap(swap));
      },
    }),
    route({
      method: 'post',
      path: SWAP,
      summary:
        'Move the partition to another embedder; searches use the present one until all vectors are there',
      tag: TAG,
      auth: { partition: 'owner' },
      request: { params: PartitionParams, body: EmbedderSwapBody },
      responses: { 202: { description: 'It has begun', schema: EmbedderSwap } },
      errors: [
        'PARTITION_NOT_FOUND',
        'VALIDATION_ERROR',
        'EMBEDDER_ALIAS_NOT_ALLOWED',
        'MODEL_ENDPOINT_NOT_FOUND',
        'EMBEDDER_VECTOR_FIELD_MISSING',
        'QUESTION_SET_NOT_FOUND',
        'CONFLICT',
        'EMBEDDER_SWAP_IN_PROGRESS',
        'SERVICE_UNAVAILABLE',
      ],
      async handle({ principal }, { params, body }) {
        const swap = await startSwap(adapters, workflows, {
          partition: params.partition,
          target: body.embedder,
          userId: principal.userId,
          gates: gatesOf(body),
        });
        return json(202, presentSwap(swap));
      },
    }),
    route({
      method: 'delete',
      path: SWAP,
      summary:
        "Give the partition's move up: it stays with its embedder. Once it has switched it is not undone",
      tag: TAG,
      auth: { partition: 'owner' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'The move', schema: EmbedderSwap } },
      errors: ['PARTITION_NOT_FOUND', 'EMBEDDER_SWAP_NOT_RUNNING', 'SERVICE_UNAVAILABLE'],
      handle: async (_ctx, { params }) => json(200, presentSwap(await cancel(params.partition))),
    }),
    route({
      method: 'get',
      path: ALL,
      summary: 'Moves of partitions to another embedder, the newest first',
      tag: TAG,
      auth: 'admin',
      request: {},
      responses: { 200: { description: 'The moves', schema: EmbedderSwapList } },
      errors: [],
      handle: async () => json(200, { swaps: (await swaps.list(LISTED)).map(presentSwap) }),
    }),
    route({
      method: 'post',
      path: ALL,
      summary: 'Move every partition of an embedder to another one, some at a time',
      tag: TAG,
      auth: 'admin',
      request: { body: EmbedderSwapsBody },
      responses: { 202: { description: 'They have begun', schema: EmbedderSwapsStarted } },
      errors: [
        'VALIDATION_ERROR',
        'EMBEDDER_ALIAS_NOT_ALLOWED',
        'MODEL_ENDPOINT_NOT_FOUND',
        'EMBEDDER_VECTOR_FIELD_MISSING',
        'CONFLICT',
        'EMBEDDER_SWAP_IN_PROGRESS',
        'SERVICE_UNAVAILABLE',
      ],
      async handle({ principal }, { body }) {
        const { source, concurrency } = body;
        const { name: target } = await requireSwapTarget({ models }, body.target);
        if (source === target) throw new AppError('CONFLICT', 'Both are the same embedder.');
        const theirs = (await partitions.list(EVERYTHING)).filter(({ embedder }) => embedder === source);
        await workflows.startSwaps({
          source,
          target,
          concurrency,
          startedBy: String(principal.userId),
          ...gatesOf(body),
        });
        return json(202, { source, target, partitions: theirs.length });
      },
    }),
  ];
}

function gatesOf(body: Pick<z.output<typeof EmbedderSwapBody>, keyof SwapGates>): SwapGates {
  return {
    min_overlap: body.min_overlap ?? null,
    min_known_item: body.min_known_item ?? null,
    question_set: body.question_set ?? null,
    min_ndcg: body.min_ndcg ?? null,
  };
}
