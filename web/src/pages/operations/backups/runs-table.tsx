import { Badge, Progress, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { ScrollTable } from '../../../shared/scroll-table';
import { TemporalLink } from '../../../shared/temporal-link';
import { Time } from '../../../shared/time';
import { backupRunsQuery } from './queries';
import type { BackupRun } from './queries';

const COLOURS = { running: 'blue', completed: 'green', failed: 'red', cancelled: 'gray' } as const;

function State({ run: { state, done, total, phase, error } }: { run: BackupRun }) {
  const { operations: t, server } = useMessages();
  const format = useFormat();
  const said = total === null ? format.number(done) : `${format.number(done)} / ${format.number(total)}`;
  return (
    <>
      <Badge variant="dot" color={COLOURS[state]}>
        {t.runStates[state]}
      </Badge>
      {state === 'running' && (
        <>
          <Text span size="sm" ml="xs">
            {server.phases[phase] ?? phase} {said}
          </Text>
          {total !== null && (
            <Progress value={(100 * done) / Math.max(1, total)} mt={4} animated aria-label={said} />
          )}
        </>
      )}
      {error !== null && <Text size="sm">{server.errors[error.code] ?? error.message}</Text>}
    </>
  );
}

export function RunsTable({ runs }: { runs: readonly BackupRun[] }) {
  const { operations: t, common } = useMessages();
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.POST('/admin/backup-runs/cancel'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: backupRunsQuery.queryKey }),
  });
  return (
    <ScrollTable label={t.backupRuns} minWidth={780}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.backup}</Table.Th>
          <Table.Th>{t.runState}</Table.Th>
          <Table.Th>{t.startedBy}</Table.Th>
          <Table.Th>{t.when}</Table.Th>
          <Table.Th>{common.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Table.Tr key={run.run_id}>
            <Table.Td>
              {run.backup_id}
              <Text size="sm" c="dimmed">
                {t.backupKinds[run.kind]}
              </Text>
              {run.state === 'running' && (
                <TemporalLink target={{ workflow: 'backup' }} name={run.backup_id} />
              )}
            </Table.Td>
            <Table.Td>
              <State run={run} />
            </Table.Td>
            <Table.Td>
              {run.started_by === 'schedule' ? t.bySchedule : common.user(Number(run.started_by))}
            </Table.Td>
            <Table.Td>
              <Time at={run.started_at} />
            </Table.Td>
            <Table.Td>
              {run.state === 'running' && (
                <ConfirmButton
                  label={t.cancel}
                  question={t.cancelQuestion}
                  onConfirm={() => cancel.mutate()}
                />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}
