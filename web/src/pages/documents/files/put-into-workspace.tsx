import { Select, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { QueryView } from '../../../shared/query-view';
import { workspacesQuery } from '../queries';

interface Props {
  partition: string;
  files: readonly string[];
  onClose: () => void;
}

/** So many the server takes of one request. */
const AT_ONCE = 10_000;

async function putInto(partition: string, workspace: string, files: readonly string[]): Promise<void> {
  const params = { path: { partition, workspace_id: workspace } };
  for (let from = 0; from < files.length; from += AT_ONCE)
    await api.POST('/partition/{partition}/workspaces/{workspace_id}/files', {
      params,
      body: { file_ids: files.slice(from, from + AT_ONCE) },
    });
}

/** Puts files into one workspace of their partition; those that are in it stay. */
export function PutIntoWorkspace({ partition, files, onClose }: Props) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const workspaces = useQuery(workspacesQuery(partition));
  const [workspace, setWorkspace] = useState<string | null>(null);
  const put = useMutation({
    meta: { ownErrors: true },
    mutationFn: (id: string) => putInto(partition, id, files),
    onSuccess: (_answer, id) => {
      notifications.show({ color: 'green', message: t.putIntoWorkspace(format.number(files.length), id) });
      onClose();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['file-workspaces', partition] }),
  });
  return (
    <FormModal
      title={t.intoWorkspace}
      opened
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (workspace !== null) put.mutate(workspace);
      }}
      submit={t.putInto}
      pending={put.isPending}
      error={put.error}
      disabled={workspace === null}
    >
      <QueryView query={workspaces}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t.noWorkspaces}</Text>
          ) : (
            <Select
              label={t.workspace}
              data={list.map(({ workspace_id: value, display_name: name }) => ({
                value,
                label: name ?? value,
              }))}
              value={workspace}
              onChange={setWorkspace}
              allowDeselect={false}
              searchable
            />
          )
        }
      </QueryView>
    </FormModal>
  );
}
