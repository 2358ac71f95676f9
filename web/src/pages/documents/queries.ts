import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client';
import type { components } from '../../api/schema.gen';

export type PartitionRow = Awaited<ReturnType<typeof readPartitions>>[number];
export type FileRow = Awaited<ReturnType<typeof readFiles>>[number];
export type TaskStatus = components['schemas']['TaskStatus'];

const readPartitions = async () => (await bodyOf(api.GET('/partition/'))).partitions;

const readFiles = async (partition: string) =>
  (await bodyOf(api.GET('/partition/{partition}', { params: { path: { partition } } }))).files;

export const partitionsQuery = queryOptions({
  queryKey: ['partitions'],
  queryFn: readPartitions,
  refetchInterval: 30_000,
});

export const filesQuery = (partition: string) =>
  queryOptions({ queryKey: ['files', partition], queryFn: () => readFiles(partition) });

export const failedTasksQuery = queryOptions({
  queryKey: ['tasks', 'FAILED'],
  queryFn: async () =>
    (await bodyOf(api.GET('/queue/tasks', { params: { query: { task_status: 'FAILED' } } }))).tasks,
});

export const chunksQuery = (partition: string, file: string) =>
  queryOptions({
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

export const fileQuery = (partition: string, file: string) =>
  queryOptions({
    queryKey: ['file', partition, file],
    queryFn: () =>
      bodyOf(
        api.GET('/partition/{partition}/file/{file_id}', {
          params: { path: { partition, file_id: file }, query: { limit: 1 } },
        }),
      ),
  });

export const typesQuery = queryOptions({
  queryKey: ['types'],
  queryFn: async () => (await bodyOf(api.GET('/indexer/supported/types'))).extensions,
  staleTime: Infinity,
});

/** No role: an administrator who may do everything. */
export const mayEdit = (partition: PartitionRow | undefined): boolean =>
  partition !== undefined && partition.role !== 'viewer';

export const mayOwn = (partition: PartitionRow): boolean =>
  partition.role === undefined || partition.role === 'owner';

/** A metadata value as a text. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);
