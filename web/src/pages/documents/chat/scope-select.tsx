import { Group, Pill, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { PresetSelect } from '../../operations/models/preset-select';
import { partitionsQuery, workspacesQuery } from '../queries';
import { conversation, useConversation } from './conversation';
import type { Scope } from './scope';

/** What the next question is about: everything, a partition, a workspace or a file of it. */
export function ScopeSelect() {
  const { ask: t } = useMessages();
  const { scope, preset, loading } = useConversation();
  const { partition, workspace, file_id: file } = scope;
  const isAdmin = useSession().data?.user?.is_admin === true;
  const partitions = useQuery(partitionsQuery);
  const workspaces = useQuery({ ...workspacesQuery(partition ?? ''), enabled: partition !== null });
  const names = partitions.data?.map((row) => row.partition) ?? [];
  const about = (chosen: Partial<Scope>) =>
    conversation.setAbout({ scope: { partition: null, workspace: null, file_id: null, ...chosen } });
  return (
    <Group gap="sm" align="end">
      <Select
        label={t.scope}
        data={[{ value: '', label: t.allPartitions }, ...names.map((name) => ({ value: name, label: name }))]}
        value={partition ?? ''}
        disabled={loading}
        onChange={(chosen) => about({ partition: chosen === '' ? null : chosen })}
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
          onChange={(chosen) => about({ partition, workspace: chosen === '' ? null : chosen })}
          allowDeselect={false}
        />
      )}
      {file !== null && (
        <Stack gap={4}>
          <Text size="sm">{t.onlyFile}</Text>
          <Pill
            size="lg"
            withRemoveButton
            removeButtonProps={{ 'aria-label': t.notOnlyFile, 'aria-hidden': false, tabIndex: 0 }}
            onRemove={() => about({ partition })}
          >
            {file}
          </Pill>
        </Stack>
      )}
      {isAdmin && (
        <PresetSelect
          type="retrieval"
          label={t.preset}
          none={t.ownPreset}
          value={preset}
          onChange={(chosen) => conversation.setAbout({ preset: chosen })}
        />
      )}
    </Group>
  );
}
