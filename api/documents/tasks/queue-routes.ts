import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { ACTIVE_STATES, FINAL_STATES } from '../../../schemas/documents/tasks.js';
import type { TaskHead, TaskState, WorkerRecord } from '../../../schemas/documents/tasks.js';
import {
  ActorList,
  ActorRestarted,
  QueueInfo,
  QueueTasks,
} from '../../../schemas/documents/documents-api.js';
import { WORKER_POOLS, WORKER_SILENCE_MS } from '../../../schemas/worker-pools.js';
import { json, jsonList, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { TaskStore } from '../../../activities/ports/tasks.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { resolveTaskPartitions } from './resolve-task-partitions.js';
import { knowsFile, presentQueueTask } from './present-task.js';
import { sha256Hex } from '../../../schemas/sha256.js';

const MAX_ENDED = 500;
const MAX_ACTIVE = 2000;
/** The namespace that upstream's execution cluster would name. */
const NAMESPACE = 'tamis';

const TasksQuery = z.object({
  task_status: z.string().optional().meta({ description: '`active`, or a state in any case' }),
  partition: z.string().optional().meta({
    description: 'Only those whose upload was into this partition; their files may have been moved since',
  }),
});

/** The states that a filter asks for; a name of no state of ours (older releases had more) has no tasks. */
function statesOf(filter: string | undefined): TaskState[] {
  const asked = filter?.trim().toUpperCase() ?? '';
  if (asked === '') return [...ACTIVE_STATES, ...FINAL_STATES];
  if (asked === 'ACTIVE') return [...ACTIVE_STATES];
  return [...ACTIVE_STATES, ...FINAL_STATES].filter((state) => state === asked);
}

function actorId(name: string): string {
  return sha256Hex(name).slice(0, 32);
}

type Pool = (typeof WORKER_POOLS)[number];

/** Alive when some process has it and no restart is pending. */
function poolState(pool: Pool, workers: readonly WorkerRecord[], asked: Date | undefined): string {
  if (!pool.inWorkers) return 'ALIVE';
  if (workers.length === 0) return 'DEAD';
  const obeyed = (worker: WorkerRecord): boolean =>
    asked === undefined || (worker.renewed[pool.name] ?? worker.started_at) >= asked;
  return workers.some(obeyed) ? 'ALIVE' : 'PENDING_CREATION';
}

/** Tasks whose metadata are held at once: 64 KiB each. */
const ROWS_AT_ONCE = 100;

/** Rows with the metadata of those tasks whose files the reader may know. */
async function* queueRows(
  store: Pick<TaskStore, 'readMetadata'>,
  tasks: readonly TaskHead[],
  shown: Parameters<typeof presentQueueTask>[1],
) {
  for (let from = 0; from < tasks.length; from += ROWS_AT_ONCE) {
    const page = tasks.slice(from, from + ROWS_AT_ONCE);
    const known = page.filter((task) => knowsFile(shown.reader, task)).map(({ task_id: id }) => id);
    const metadata = known.length === 0 ? new Map<string, never>() : await store.readMetadata(known);
    for (const task of page)
      yield presentQueueTask({ ...task, metadata: metadata.get(task.task_id)?.metadata ?? {} }, shown);
  }
}

/** The queue of tasks, from their records, and the pools of the workers, from what these report. */
export function queueRoutes({ adapters, config }: GatewayDeps): Route[] {
  const workersNow = (): Promise<WorkerRecord[]> =>
    adapters.workers.list(new Date(Date.now() - WORKER_SILENCE_MS));

  return [
    route({
      method: 'get',
      path: '/queue/info',
      summary: 'Workers and tasks in numbers',
      tag: 'Queue',
      auth: 'admin',
      responses: { 200: { description: 'Numbers', schema: QueueInfo } },
      errors: ['AUTH_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle() {
        const [workers, counts] = await Promise.all([workersNow(), adapters.tasks.countByState()]);
        const { QUEUED, SERIALIZING, COMPLETED, FAILED, CANCELLED } = counts;
        return json(200, {
          workers: {
            total_slots: workers.reduce((sum, { slots }) => sum + slots, 0),
            pool_size: workers.length,
            max_per_actor: Math.max(0, ...workers.map(({ slots }) => slots)),
          },
          tasks: {
            active: QUEUED + SERIALIZING,
            active_statuses: { QUEUED, SERIALIZING },
            total_cancelled: CANCELLED,
            total_completed: COMPLETED,
            total_failed: FAILED,
          },
        });
      },
    }),
    route({
      method: 'get',
      path: '/queue/tasks',
      summary:
        "The caller's tasks, those of all users for an administrator; the newest 2,000 active and 500 ended ones",
      tag: 'Queue',
      auth: 'user',
      request: { query: TasksQuery },
      responses: { 200: { description: 'Tasks', schema: QueueTasks } },
      async handle(ctx, { query }) {
        const { principal, baseUrl } = ctx;
        const states = statesOf(query.task_status);
        const userId = principal.isAdmin ? null : principal.userId;
        const into = query.partition === undefined ? {} : { partition: query.partition };
        const listed = async (of: readonly TaskState[], limit: number): Promise<TaskHead[]> => {
          const wanted = states.filter((state) => of.includes(state));
          if (wanted.length === 0) return [];
          return adapters.tasks.list({ userId, states: wanted, limit, ...into });
        };
        const [active, ended] = await Promise.all([
          listed(ACTIVE_STATES, MAX_ACTIVE),
          listed(FINAL_STATES, MAX_ENDED),
        ]);
        const link = links(baseUrl);
        const tasks = await resolveTaskPartitions(adapters, ctx, [...active, ...ended]);
        const { prefix } = config.temporal;
        return jsonList('tasks', queueRows(adapters.tasks, tasks, { link, reader: ctx, prefix }));
      },
    }),
    route({
      method: 'get',
      path: '/actors/',
      summary: 'The worker pools',
      tag: 'Queue',
      auth: 'admin',
      responses: { 200: { description: 'Pools by their known names', schema: ActorList } },
      errors: ['AUTH_ERROR'],
      async handle() {
        const [workers, restarts] = await Promise.all([workersNow(), adapters.workers.restarts()]);
        return json(200, {
          actors: WORKER_POOLS.map((pool) => ({
            actor_id: actorId(pool.name),
            name: pool.name,
            class_name: pool.className,
            state: poolState(pool, workers, restarts.get(pool.name)),
            namespace: NAMESPACE,
          })),
        });
      },
    }),
    route({
      method: 'post',
      path: '/actors/{actor_name}/restart',
      summary: 'Have every worker process make this pool anew; running work is taken up again',
      tag: 'Queue',
      auth: 'admin',
      request: { params: z.object({ actor_name: z.string() }) },
      responses: { 200: { description: 'Asked for', schema: ActorRestarted } },
      errors: ['AUTH_ERROR', 'NOT_FOUND'],
      async handle(_ctx, { params: { actor_name: name } }) {
        if (!WORKER_POOLS.some((pool) => pool.name === name))
          throw new AppError('NOT_FOUND', `Unknown actor '${name}'`, { plain: true });
        await adapters.workers.requestRestart(name);
        return json(200, {
          message: `Actor ${name} restarted successfully.`,
          actor_name: name,
          actor_id: actorId(name),
        });
      },
    }),
  ];
}
