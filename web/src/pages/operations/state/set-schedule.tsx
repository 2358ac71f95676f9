import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { schedulesQuery } from './queries';
import type { Schedule } from './queries';
import { scheduleChange } from './schedule-change';

/** A worker would make these again. */
const ALWAYS_SET: ReadonlySet<Schedule['name']> = new Set([
  'reconcile',
  'retention',
  'retention-callbacks',
  'retention-quarantine',
  'retention-tasks',
]);

/** When something runs: a line of cron, or no more by the clock at all. */
export function SetSchedule({ schedule }: { schedule: Schedule }) {
  const { name, title, set, cron } = schedule;
  const { operations: t, common, server } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const [line, setLine] = useState('');
  const change = useMutation({
    meta: { ownErrors: true },
    mutationFn: async (wanted: string | null) => {
      const params = { path: { name } };
      if (wanted === null) await api.DELETE('/admin/schedules/{name}', { params });
      else await api.PUT('/admin/schedules/{name}', { params, body: scheduleChange(schedule, wanted) });
    },
    onSuccess: () => {
      close();
      return queryClient.invalidateQueries({ queryKey: schedulesQuery.queryKey });
    },
  });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          setLine(cron ?? '');
          change.reset();
          open();
        }}
      >
        {t.setSchedule}
      </Button>
      <FormModal
        title={server.schedules[name] ?? title}
        opened={opened}
        onClose={close}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(line.trim());
        }}
        submit={common.save}
        pending={change.isPending}
        error={change.error}
        extra={
          set &&
          !ALWAYS_SET.has(name) && (
            <Button variant="default" onClick={() => change.mutate(null)}>
              {t.removeSchedule}
            </Button>
          )
        }
      >
        <TextInput
          label={t.when}
          description={t.cronHint}
          placeholder="0 3 * * *"
          value={line}
          onChange={(event) => setLine(event.currentTarget.value)}
          required
          data-autofocus
        />
      </FormModal>
    </>
  );
}
