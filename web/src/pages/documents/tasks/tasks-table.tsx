import { Anchor, Badge, Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../../api/client';
import type { components } from '../../../api/schema.gen';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { to } from '../../../shared/routes';
import { TemporalLink } from '../../../shared/temporal-link';
import { Time } from '../../../shared/time';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column } from '../../../shared/virtual-table';
import { FailedTask } from './failed-task';

type Task = components['schemas']['QueueTask'];

const COLOURS = {
  QUEUED: 'gray',
  SERIALIZING: 'blue',
  COMPLETED: 'green',
  FAILED: 'red',
  CANCELLED: 'gray',
} as const;

export function TasksTable({ tasks }: { tasks: readonly Task[] }) {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Task | null>(null);
  const cancel = useMutation({
    mutationFn: (id: string) => api.DELETE('/indexer/task/{task_id}', { params: { path: { task_id: id } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['tasks'] }),
  });
  const columns: Column<Task>[] = [
    {
      key: 'state',
      header: t.taskState,
      width: '130px',
      cell: ({ state }) => (
        <Badge color={COLOURS[state]} variant="dot">
          {t.states[state]}
        </Badge>
      ),
    },
    {
      key: 'file',
      header: t.file,
      width: 'minmax(180px, 2fr)',
      cell: ({ details }) => details.file_id,
    },
    {
      key: 'partition',
      header: t.partition,
      width: 'minmax(120px, 1fr)',
      cell: ({ details }) => (
        <Anchor component={Link} href={to.partition(details.partition)} size="sm">
          {details.partition}
        </Anchor>
      ),
    },
    { key: 'at', header: t.created, width: '150px', cell: (task) => <Time at={task.created_at} /> },
    {
      key: 'duration',
      header: t.taskDuration,
      width: '90px',
      cell: ({ duration_ms: ms }) => (ms === null ? '' : format.seconds(ms)),
    },
    {
      key: 'actions',
      header: common.actions,
      width: '190px',
      cell: (task) => (
        <Group gap="xs">
          {(task.state === 'QUEUED' || task.state === 'SERIALIZING') && (
            <ConfirmButton
              size="compact-xs"
              label={t.cancelTask}
              question={t.cancelTaskQuestion(task.details.file_id)}
              onConfirm={() => cancel.mutate(task.task_id)}
            />
          )}
          {task.state === 'FAILED' && (
            <Button size="compact-xs" variant="default" onClick={() => setAsked(task)}>
              {t.reason}
            </Button>
          )}
          {task.workflow_id !== undefined && (
            // Whose files an administrator may not know have no name here.
            <TemporalLink
              target={{ workflowId: task.workflow_id }}
              name={task.details.file_id || task.task_id}
            />
          )}
        </Group>
      ),
    },
  ];
  return (
    <>
      <VirtualTable
        label={t.tasks}
        rows={tasks}
        columns={columns}
        rowKey={({ task_id: id }) => id}
        minWidth={860}
      />
      {asked !== null && <FailedTask task={asked} onClose={() => setAsked(null)} />}
    </>
  );
}
