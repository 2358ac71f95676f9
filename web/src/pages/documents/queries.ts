import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client';
import type { components } from '../../api/schema.gen';
import { listPages } from './list-pages';

export type PartitionRow = Awaited<ReturnType<typeof readPartitions>>[number];
export type FileRow = Awaited<ReturnType<typeof readFiles>>[number];
/** Files as they come in; until all of them are there, what is missing among them is no news. */
export interface FileListing {
  rows: readonly FileRow[];
  complete: boolean;
}
export type TaskStatus = components['schemas']['TaskStatus'];

async function readPartitions() {
  return (await bodyOf(api.GET('/partition/'))).partitions;
}

async function readFiles(partition: string, query: { limit: number; after?: string }, signal: AbortSignal) {
  const params = { path: { partition }, query };
  return (await bodyOf(api.GET('/partition/{partition}', { params, signal }))).files;
}

export const partitionsQuery = queryOptions({
  queryKey: ['partitions'],
  queryFn: readPartitions,
  refetchInterval: ({ state: { data } }) =>
    data?.some(({ embedder_swap: swap }) => swap?.status === 'running') ? 3_000 : 30_000,
});

/** The first rows are shown at once. A long page costs the server little more than a short one. */
export const FIRST_PAGE = 500;
const LATER_PAGE = 10_000;

export function filesQuery(partition: string) {
  const queryKey = ['files', partition];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<FileListing> => {
      const shown = client.getQueryData<FileListing>(queryKey)?.complete === true;
      const rows = await listPages(
        (limit, last?: FileRow) =>
          readFiles(partition, { limit, ...(last && { after: last.file_id }) }, signal),
        [FIRST_PAGE, LATER_PAGE],
        // A list that is whole stays until the newer one is.
        (part) => shown || client.setQueryData<FileListing>(queryKey, { rows: part, complete: false }),
      );
      return { rows, complete: true };
    },
  });
}

/** Of this partition alone: those of others would take their places in a list that is cut. */
export function failedTasksQuery(partition: string) {
  const query = { task_status: 'FAILED', partition };
  return queryOptions({
    queryKey: ['tasks', 'FAILED', partition],
    queryFn: async () => (await bodyOf(api.GET('/queue/tasks', { params: { query } }))).tasks,
  });
}

export function workspacesQuery(partition: string) {
  return queryOptions({
    queryKey: ['workspaces', partition],
    queryFn: async () =>
      (await bodyOf(api.GET('/partition/{partition}/workspaces', { params: { path: { partition } } })))
        .workspaces,
  });
}

/** How many tasks wait or are at work, by partition. */
export const activeTasksQuery = queryOptions({
  queryKey: ['tasks', 'active', 'by-partition'],
  queryFn: async () => {
    const query = { task_status: 'active' };
    const { tasks } = await bodyOf(api.GET('/queue/tasks', { params: { query } }));
    const counts = new Map<string, number>();
    for (const { details } of tasks) counts.set(details.partition, (counts.get(details.partition) ?? 0) + 1);
    return counts;
  },
  refetchInterval: 5_000,
});

export function chunksQuery(partition: string, file: string) {
  return queryOptions({
    queryKey: ['chunks', partition, file],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/partition/{partition}/chunks', {
            params: { path: { partition }, query: { file_id: file, include_embedding: 'false' } },
          }),
        )
      ).chunks,
  });
}

export function fileQuery(partition: string, file: string) {
  return queryOptions({
    queryKey: ['file', partition, file],
    queryFn: () =>
      bodyOf(
        api.GET('/partition/{partition}/file/{file_id}', {
          params: { path: { partition, file_id: file }, query: { limit: 1 } },
        }),
      ),
  });
}

export const typesQuery = queryOptions({
  queryKey: ['types'],
  queryFn: async () => (await bodyOf(api.GET('/indexer/supported/types'))).extensions,
  staleTime: Infinity,
});

/** No role: an administrator who may do everything. */
export function mayEdit(partition: PartitionRow | undefined): boolean {
  return partition !== undefined && partition.role !== 'viewer';
}

export function mayOwn(partition: PartitionRow): boolean {
  return partition.role === undefined || partition.role === 'owner';
}

/** A metadata value as a text. */
export function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : value === null || value === undefined
      ? ''
      : JSON.stringify(value);
}
