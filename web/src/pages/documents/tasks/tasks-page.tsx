import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../../api/client';
import { useSession } from '../../../api/session';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ChoiceBar } from '../../../shared/choice-bar';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { ErrorGroups } from './error-groups';
import { isCut, LISTED_AT_MOST } from './is-cut';
import { TasksTable } from './tasks-table';
import { Turns } from './turns';

const WHILE_ACTIVE_MS = 2_000;
const OTHERWISE_MS = 15_000;
const STATES = ['all', 'active', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;

function TasksPage() {
  const { documents: t } = useMessages();
  const format = useFormat();
  const [state, setState] = useState<(typeof STATES)[number]>('all');
  const [code, setCode] = useState<string | null>(null);
  const admin = useSession().data?.user?.is_admin === true;
  const tasks = useQuery({
    queryKey: ['tasks', state],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/queue/tasks', { params: { query: state === 'all' ? {} : { task_status: state } } }),
        )
      ).tasks,
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ state: now }) => now === 'QUEUED' || now === 'SERIALIZING')
        ? WHILE_ACTIVE_MS
        : OTHERWISE_MS,
  });
  const queue = useQuery({
    queryKey: ['queue-info'],
    enabled: admin,
    queryFn: async () => (await bodyOf(api.GET('/queue/info'))).tasks,
    refetchInterval: OTHERWISE_MS,
  });
  const labels = { ...t.states, all: t.allTasks, active: t.states.SERIALIZING };
  return (
    <Page title={t.tasks} hint={t.tasksHint}>
      <ChoiceBar
        label={t.taskState}
        choices={STATES.map((value) => ({ value, label: labels[value] }))}
        value={state}
        onChange={(chosen) => {
          setState(chosen);
          setCode(null);
        }}
      />
      {queue.data && (
        <Text size="sm" c="dimmed">
          {t.queueFigures(
            format.number(queue.data.active),
            format.number(queue.data.total_completed),
            format.number(queue.data.total_failed),
          )}
        </Text>
      )}
      {tasks.data && isCut(tasks.data) && (
        <Text size="sm" c="dimmed">
          {t.tasksCut(format.number(LISTED_AT_MOST.active), format.number(LISTED_AT_MOST.ended))}
        </Text>
      )}
      {admin && tasks.data && <Turns tasks={tasks.data} />}
      {tasks.data && <ErrorGroups tasks={tasks.data} chosen={code} onChoose={setCode} />}
      <QueryView query={tasks}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.noTasks}>{t.noTasksHint}</Empty>
          ) : (
            <TasksTable tasks={rows.filter(({ error }) => code === null || error?.code === code)} />
          )
        }
      </QueryView>
    </Page>
  );
}

export default TasksPage;
