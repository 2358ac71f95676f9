import { Checkbox, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { QueryView } from '../../../shared/query-view';
import { workspacesQuery } from '../queries';

interface Props {
  partition: string;
  file: string;
  onClose: () => void;
}

/** In which workspaces of its partition a file is; each click is a change. */
export function FileWorkspaces({ partition, file, onClose }: Props) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const workspaces = useQuery(workspacesQuery(partition));
  const queryKey = ['file-workspaces', partition, file];
  const memberships = useQuery({
    queryKey,
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/partition/{partition}/files/{file_id}/workspaces', {
            params: { path: { partition, file_id: file } },
          }),
        )
      ).workspace_ids,
  });
  const change = useMutation({
    mutationFn: async ({ id, into }: { id: string; into: boolean }) => {
      const path = { partition, workspace_id: id };
      if (into)
        await api.POST('/partition/{partition}/workspaces/{workspace_id}/files', {
          params: { path },
          body: { file_ids: [file] },
        });
      else
        await api.DELETE('/partition/{partition}/workspaces/{workspace_id}/files/{file_id}', {
          params: { path: { ...path, file_id: file } },
        });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t.workspacesOf(file)}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <QueryView query={workspaces}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t.noWorkspaces}</Text>
          ) : (
            <QueryView query={memberships}>
              {(ids) => (
                <Stack gap="xs">
                  {list.map(({ workspace_id: id, display_name: name }) => (
                    <Checkbox
                      key={id}
                      label={name ?? id}
                      checked={
                        change.isPending && change.variables.id === id
                          ? change.variables.into
                          : ids.includes(id)
                      }
                      disabled={change.isPending}
                      onChange={(event) => change.mutate({ id, into: event.currentTarget.checked })}
                    />
                  ))}
                </Stack>
              )}
            </QueryView>
          )
        }
      </QueryView>
    </Modal>
  );
}
