import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { isFinalState } from '../../../schemas/documents/tasks.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { MessageBody, TaskError, TaskStatus, queryNumber } from '../../../schemas/documents/documents-api.js';
import { cancelTask } from '../../../activities/documents/commands/cancel-task.js';
import { followingStream, json, route } from '../../http/route.js';
import { STREAM_ASKS_MS } from '../../http/progress-events.js';
import type { CallerContext, Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { followTaskPartition, resolveTaskPartitions } from './resolve-task-partitions.js';
import { presentTask, presentTaskError, shownError } from './present-task.js';
import { taskEvents } from './task-events.js';
import { createTaskWatch } from './task-watch.js';

/** Proxies and clients commonly give up after a minute without an answer. */
const MAX_WAIT_SECONDS = 50;

const TaskParams = z.object({ task_id: z.string() });
const TaskQuery = z.object({
  wait: queryNumber(z.int().min(0).max(MAX_WAIT_SECONDS))
    .default(0)
    .describe('answer when the task has ended, or after so many seconds'),
});

/** Background tasks: their owner and administrators may look at them and stop them. */
export function taskRoutes({ adapters, config, workflows, stopping }: GatewayDeps): Route[] {
  const look = createTaskWatch(adapters.tasks);

  /** @throws AppError AUTH_ERROR, plain */
  const requireOwn = ({ principal }: CallerContext, { task_id: taskId, user_id }: TaskRecord): void => {
    if (user_id !== principal.userId && !principal.isAdmin)
      throw new AppError('AUTH_ERROR', `Access to task '${taskId}' forbidden`, { plain: true });
  };

  /** @throws AppError, plain: TASK_NOT_FOUND, AUTH_ERROR */
  const ownTask = async (ctx: CallerContext, taskId: string): Promise<TaskRecord> => {
    const task = await adapters.tasks.get(taskId);
    if (task === null) throw new AppError('TASK_NOT_FOUND', `Task '${taskId}' not found`, { plain: true });
    requireOwn(ctx, task);
    return task;
  };

  /**
   * The task when it has ended, or as it is after the time or when the gateway stops; and who asks for it by then.
   * @throws AppError as the admission of the request; plain: TASK_NOT_FOUND, AUTH_ERROR
   */
  const endOf = async (
    ctx: CallerContext,
    task: TaskRecord,
    seconds: number,
  ): Promise<[CallerContext, TaskRecord]> => {
    const until = performance.now() + seconds * 1000;
    const isOver = (): boolean =>
      performance.now() >= until || ctx.signal.aborted || stopping?.begun.aborted === true;
    let seen: TaskRecord | null = task;
    while (seen !== null && !isFinalState(seen.state) && !isOver()) seen = await look(task.task_id);
    if (seen === task) return [ctx, task];
    // Who has lost the token, the session or the rights meanwhile hears no more of it.
    const caller = { ...ctx, ...(await ctx.admitAnew(0)) };
    return [caller, await ownTask(caller, task.task_id)];
  };

  const placed = async (ctx: CallerContext, task: TaskRecord): Promise<TaskRecord> =>
    (await resolveTaskPartitions(adapters, ctx, [task]))[0] ?? task;

  return [
    route({
      method: 'get',
      path: '/indexer/task/{task_id}',
      summary: 'Status of a task',
      tag: 'Indexing',
      auth: 'user',
      request: { params: TaskParams, query: TaskQuery },
      responses: { 200: { description: 'The task', schema: TaskStatus } },
      errors: ['AUTH_ERROR', 'TASK_NOT_FOUND'],
      async handle(ctx, { params, query }) {
        const asked = await ownTask(ctx, params.task_id);
        const [caller, task] = await endOf(ctx, asked, query.wait);
        return json(200, presentTask(await placed(caller, task), links(ctx.baseUrl), caller));
      },
    }),
    route({
      method: 'get',
      path: '/indexer/task/{task_id}/error',
      summary: 'Why a task failed',
      tag: 'Indexing',
      auth: 'user',
      request: { params: TaskParams },
      responses: { 200: { description: 'The error', schema: TaskError } },
      errors: ['AUTH_ERROR', 'TASK_NOT_FOUND'],
      async handle(ctx, { params }) {
        const task = await ownTask(ctx, params.task_id);
        const error = shownError(task);
        if (error === null)
          throw new AppError('NOT_FOUND', `No error found for task '${params.task_id}'`, { plain: true });
        return json(200, presentTaskError(task, error, ctx.principal));
      },
    }),
    route({
      method: 'get',
      path: '/indexer/task/{task_id}/events',
      summary: 'The status of a task as server-sent events, until it is final',
      tag: 'Indexing',
      auth: 'user',
      request: { params: TaskParams },
      responses: {
        200: { description: 'Events `status`, each with the status body', contentType: 'text/event-stream' },
      },
      errors: ['AUTH_ERROR', 'TASK_NOT_FOUND'],
      async handle(ctx, { params }) {
        const task = await ownTask(ctx, params.task_id);
        const link = links(ctx.baseUrl);
        const placedNow = followTaskPartition(adapters);
        let caller: CallerContext = ctx;
        return followingStream(
          taskEvents(
            await placedNow(ctx, task),
            async () => {
              try {
                caller = { ...ctx, ...(await ctx.admitAnew(STREAM_ASKS_MS)) };
                const now = await look(task.task_id);
                if (now === null) return null;
                requireOwn(caller, now);
                return await placedNow(caller, now);
              } catch (error) {
                const ours = !(error instanceof AppError) || error.status >= 500;
                ctx.log[ours ? 'error' : 'info'](
                  { err: error, task_id: task.task_id },
                  'the events of a task broke off',
                );
                throw error;
              }
            },
            (now) => presentTask(now, link, caller),
            { signal: ctx.signal, heartbeatMs: config.chat.heartbeatMs },
          ),
        );
      },
    }),
    route({
      method: 'delete',
      path: '/indexer/task/{task_id}',
      summary: 'Cancel a task; its state reads CANCELLED at once',
      tag: 'Indexing',
      auth: 'user',
      request: { params: TaskParams },
      responses: { 200: { description: 'Cancelled', schema: MessageBody } },
      errors: ['AUTH_ERROR', 'TASK_NOT_FOUND', 'TASK_NOT_CANCELLABLE'],
      async handle(ctx, { params }) {
        const task = await ownTask(ctx, params.task_id);
        await cancelTask({ ...adapters, workflows, log: ctx.log }, task);
        return json(200, { message: `Cancellation signal sent for task ${params.task_id}` });
      },
    }),
  ];
}
