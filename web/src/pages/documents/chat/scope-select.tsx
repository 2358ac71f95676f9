import { Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { partitionsQuery } from '../queries';
import { conversation, useScope } from './conversation';

/** What the next question is about: everything, a partition, or a workspace of it. */
export function ScopeSelect() {
  const { ask: t } = useMessages();
  const { partition, workspace } = useScope();
  const partitions = useQuery(partitionsQuery);
  const workspaces = useQuery({
    queryKey: ['workspaces', partition],
    enabled: partition !== null,
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/partition/{partition}/workspaces', { params: { path: { partition: partition ?? '' } } }),
        )
      ).workspaces,
  });
  const names = partitions.data?.map((row) => row.partition) ?? [];
  return (
    <Group gap="sm" align="end">
      <Select
        label={t.scope}
        data={[{ value: '', label: t.allPartitions }, ...names.map((name) => ({ value: name, label: name }))]}
        value={partition ?? ''}
        onChange={(chosen) =>
          conversation.setScope({ partition: chosen === '' ? null : chosen, workspace: null })
        }
        allowDeselect={false}
        searchable
      />
      {partition !== null && workspaces.data !== undefined && workspaces.data.length > 0 && (
        <Select
          label={t.workspace}
          data={[
            { value: '', label: t.wholePartition },
            ...workspaces.data.map(({ workspace_id: id, display_name: name }) => ({
              value: id,
              label: name ?? id,
            })),
          ]}
          value={workspace ?? ''}
          onChange={(chosen) =>
            conversation.setScope({ partition, workspace: chosen === '' ? null : chosen })
          }
          allowDeselect={false}
        />
      )}
    </Group>
  );
}
