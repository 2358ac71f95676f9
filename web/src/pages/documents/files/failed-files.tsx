import { Accordion, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Time } from '../../../shared/time';
import { failedTasksQuery, filesQuery } from '../queries';
import { isCut } from '../tasks/is-cut';
import { TaskReason } from '../tasks/task-reason';
import { ChooseAgain } from '../uploads/choose-again';

/** Tasks of this partition that failed and whose file did not get in later either; one line for each file. */
export function FailedFiles({ partition, editable }: { partition: string; editable: boolean }) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const tasks = useQuery(failedTasksQuery(partition));
  const files = useQuery(filesQuery(partition));
  if (tasks.data === undefined || files.data?.complete !== true) return null;
  const live = new Set(files.data.rows.map(({ file_id: id }) => id));
  const latest = new Map(
    tasks.data
      .filter(({ details }) => details.partition === partition && !live.has(details.file_id))
      .reverse()
      .map((task) => [task.details.file_id, task]),
  );
  if (latest.size === 0) return null;
  const title = isCut(tasks.data) ? t.failedAtLeast : t.failed;
  return (
    <Accordion variant="contained">
      <Accordion.Item value="failed">
        <Accordion.Control>{title(format.number(latest.size))}</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="sm">
            {[...latest].map(([file, task]) => (
              <Group key={file} justify="space-between" align="start">
                <Text size="sm">
                  {file}{' '}
                  <Text span c="dimmed" size="sm">
                    <Time at={task.created_at} />
                  </Text>
                </Text>
                <Group gap="xs" align="start">
                  <TaskReason task={task.task_id} code={task.error?.code} />
                  {editable && <ChooseAgain partition={partition} file={file} />}
                </Group>
              </Group>
            ))}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
