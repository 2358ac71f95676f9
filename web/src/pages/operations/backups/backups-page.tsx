import { Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { BackupsTable } from './backups-table';
import { MakeBackup } from './make-backup';
import { backupRunsQuery, backupsQuery } from './queries';
import { RunsTable } from './runs-table';

/** What is kept, what is being made or put back, and both by hand. */
function BackupsPage() {
  const { operations: t } = useMessages();
  const queryClient = useQueryClient();
  const backups = useQuery(backupsQuery);
  const runs = useQuery(backupRunsQuery);
  const place = backups.data?.place ?? null;
  const over = runs.data?.filter(({ state }) => state !== 'running').length;
  useEffect(() => {
    if (over !== undefined) void queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey });
  }, [over, queryClient]);
  return (
    <Page
      title={t.backups}
      hint={place === null ? t.backupsHint : `${t.backupsHint} ${t.backupsPlace(place)}`}
      actions={place !== null && <MakeBackup />}
    >
      <QueryView query={backups}>
        {(data) =>
          data.place === null ? (
            <Empty title={t.backupsNowhere}>{t.backupsNowhereHint}</Empty>
          ) : data.backups.length === 0 ? (
            <Empty title={t.noBackups}>{t.noBackupsHint}</Empty>
          ) : (
            <BackupsTable backups={data.backups} />
          )
        }
      </QueryView>
      {runs.data !== undefined && runs.data.length > 0 && (
        <section aria-label={t.backupRuns}>
          <Title order={2} size="h4" mb="xs">
            {t.backupRuns}
          </Title>
          <RunsTable runs={runs.data} />
        </section>
      )}
    </Page>
  );
}

export default BackupsPage;
