import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import type { components } from '../../../api/schema.gen';

export type Backup = components['schemas']['BackupList']['backups'][number];
export type BackupRun = components['schemas']['BackupRun'];

export const backupsQuery = queryOptions({
  queryKey: ['operations', 'backups'],
  queryFn: () => bodyOf(api.GET('/admin/backups')),
});

export const backupRunsQuery = queryOptions({
  queryKey: ['operations', 'backup-runs'],
  queryFn: async () => (await bodyOf(api.GET('/admin/backup-runs'))).runs,
  refetchInterval: ({ state: { data } }) =>
    data?.some(({ state }) => state === 'running') === true ? 1_000 : 10_000,
});
