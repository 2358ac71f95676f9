import { Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { QueryView } from '../../../shared/query-view';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import { workspacesQuery } from '../queries';

function NewWorkspace({ partition }: { partition: string }) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' || /[/\\]/.test(name) ? t.workspaceNameBad : null) },
  });
  const create = useMutation({
    mutationFn: (name: string) =>
      api.POST('/partition/{partition}/workspaces', {
        params: { path: { partition } },
        body: { workspace_id: name },
      }),
    onSuccess: () => {
      form.reset();
      return queryClient.invalidateQueries({ queryKey: workspacesQuery(partition).queryKey });
    },
  });
  return (
    <form onSubmit={form.onSubmit(({ name }) => create.mutate(name.trim()))}>
      <Group align="start" gap="sm">
        <TextInput
          aria-label={t.workspaceName}
          placeholder={t.workspaceName}
          maxLength={255}
          {...form.getInputProps('name')}
        />
        <Button type="submit" variant="default" loading={create.isPending}>
          {common.create}
        </Button>
      </Group>
    </form>
  );
}

/** Groups of files that a question can be about. */
export function Workspaces({ partition }: { partition: string }) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const workspaces = useQuery(workspacesQuery(partition));
  const remove = useMutation({
    mutationFn: (workspace_id: string) =>
      api.DELETE('/partition/{partition}/workspaces/{workspace_id}', {
        params: { path: { partition, workspace_id }, query: { keep_files: 'true' } },
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: workspacesQuery(partition).queryKey }),
  });
  return (
    <>
      <QueryView query={workspaces}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t.noWorkspaces}</Text>
          ) : (
            <ScrollTable label={t.workspaces} minWidth={420}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{common.name}</Table.Th>
                  <Table.Th>{t.created}</Table.Th>
                  <Table.Th>{common.actions}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {list.map(({ workspace_id: id, display_name: name, created_at: at }) => (
                  <Table.Tr key={id}>
                    <Table.Td style={{ overflowWrap: 'anywhere' }}>{name ?? id}</Table.Td>
                    <Table.Td>
                      <Time at={at} />
                    </Table.Td>
                    <Table.Td>
                      <ConfirmButton
                        label={common.delete}
                        aria-label={`${common.delete}${common.colon}${id}`}
                        question={t.deleteWorkspaceQuestion(name ?? id)}
                        onConfirm={() => remove.mutate(id)}
                      />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
          )
        }
      </QueryView>
      <NewWorkspace partition={partition} />
    </>
  );
}
