import { Group, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { components } from '../../../api/schema.gen';
import { useMessages } from '../../../i18n/language';
import { to } from '../../../shared/routes';
import { mayEdit, partitionsQuery } from '../queries';
import { ChooseAgain } from '../uploads/choose-again';
import { TaskReason } from './task-reason';

interface Props {
  task: components['schemas']['QueueTask'];
  onClose: () => void;
}

/** Why a task failed, and its file once more: the page of its partition shows how that upload goes. */
export function FailedTask({ task, onClose }: Props) {
  const { common } = useMessages();
  const [, navigate] = useLocation();
  const partitions = useQuery(partitionsQuery);
  const { partition, file_id: file } = task.details;
  // Whose files an administrator may not know have no name here.
  const editable = file !== '' && mayEdit(partitions.data?.find((row) => row.partition === partition));
  return (
    <Modal opened onClose={onClose} title={file} size="lg" closeButtonProps={{ 'aria-label': common.close }}>
      <Group gap="xs" align="start">
        <TaskReason task={task.task_id} code={task.error?.code} />
        {editable && (
          <ChooseAgain partition={partition} file={file} onChosen={() => navigate(to.partition(partition))} />
        )}
      </Group>
    </Modal>
  );
}
