import { Badge, Button, Group, Table, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ScrollTable } from '../../../shared/scroll-table';
import { QueryView } from '../../../shared/query-view';
import { TemporalLink } from '../../../shared/temporal-link';
import { Time } from '../../../shared/time';
import { schedulesQuery } from './queries';
import type { Schedule } from './queries';
import { SetSchedule } from './set-schedule';

type Step = 'pause' | 'resume' | 'run';

/** As Temporal knows it, behind the prefix of the installation. */
function scheduleId(name: Schedule['name']): string {
  switch (name) {
    case 'reconcile':
      return 'reconcile-documents';
    case 'retention':
      return 'retain-alerts';
    case 'retention-tasks':
      return 'retain-tasks';
    case 'retention-callbacks':
      return 'retain-callbacks';
    case 'retention-quarantine':
      return 'retain-quarantine';
    case 'backup':
      return 'backup-schedule';
    default:
      return `migrate-window/${name}`;
  }
}

function apply(name: Schedule['name'], step: Step): Promise<unknown> {
  const params = { path: { name } };
  if (step === 'run') return api.POST('/admin/schedules/{name}/run', { params });
  if (step === 'pause') return api.POST('/admin/schedules/{name}/pause', { params, body: {} });
  return api.POST('/admin/schedules/{name}/resume', { params, body: {} });
}

function Steering({ schedule: { name, paused } }: { schedule: Schedule }) {
  const { operations: t } = useMessages();
  const queryClient = useQueryClient();
  const step = useMutation({
    mutationFn: (wanted: Step) => apply(name, wanted),
    onSuccess: (_answer, wanted) => {
      if (wanted === 'run') notifications.show({ color: 'green', message: t.started });
      return queryClient.invalidateQueries({ queryKey: ['operations', 'schedules'] });
    },
  });
  const button = { size: 'xs', variant: 'default', disabled: step.isPending } as const;
  return (
    <Group gap="xs" wrap="nowrap">
      <Button {...button} onClick={() => step.mutate('run')}>
        {t.runNow}
      </Button>
      <Button {...button} onClick={() => step.mutate(paused ? 'resume' : 'pause')}>
        {paused ? t.resume : t.pause}
      </Button>
    </Group>
  );
}

export function Schedules() {
  const { operations: t, common, server } = useMessages();
  const titleOf = ({ name, title }: Schedule): string => server.schedules[name] ?? title;
  const schedules = useQuery(schedulesQuery);
  const format = useFormat();
  const foundOf = ({ chunks = 0, blobs = 0 }: Record<string, number>): string =>
    chunks + blobs === 0 ? t.nothingRemoved : t.removed(format.number(chunks), format.number(blobs));
  const whenOf = ({ set, cron, every_minutes: minutes }: Schedule): string => {
    if (!set) return t.notScheduled;
    return cron ?? (minutes === null ? '' : t.everyMinutes(minutes));
  };
  return (
    <section aria-label={t.schedules}>
      <Title order={2} size="h4" mb="xs">
        {t.schedules}
      </Title>
      <QueryView query={schedules}>
        {(list) => (
          <ScrollTable label={t.schedules} minWidth={820}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.schedule}</Table.Th>
                <Table.Th>{t.when}</Table.Th>
                <Table.Th>{t.lastRun}</Table.Th>
                <Table.Th>{t.nextRun}</Table.Th>
                <Table.Th>{common.actions}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {list.map((schedule) => (
                <Table.Tr key={schedule.name}>
                  <Table.Td>
                    <Text size="sm">{titleOf(schedule)}</Text>
                    {schedule.set && (
                      <TemporalLink
                        target={{ schedule: scheduleId(schedule.name) }}
                        name={titleOf(schedule)}
                      />
                    )}
                  </Table.Td>
                  <Table.Td>
                    {whenOf(schedule)}{' '}
                    {schedule.paused && (
                      <Badge variant="dot" color="orange">
                        {t.paused}
                      </Badge>
                    )}
                  </Table.Td>
                  <Table.Td>
                    {schedule.last_run !== null && <Time at={schedule.last_run} />}
                    {schedule.name === 'reconcile' && schedule.last_result !== null && (
                      <Text size="sm" c="dimmed">
                        {foundOf(schedule.last_result)}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>
                    {schedule.next_runs[0] !== undefined && <Time at={schedule.next_runs[0]} />}
                  </Table.Td>
                  <Table.Td>
                    <Group gap="xs" wrap="nowrap">
                      {schedule.set && <Steering schedule={schedule} />}
                      <SetSchedule schedule={schedule} />
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
        )}
      </QueryView>
    </section>
  );
}
