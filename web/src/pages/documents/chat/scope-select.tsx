import { Group, Pill, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { presetsQuery } from '../../operations/models/queries';
import { partitionsQuery } from '../queries';
import { conversation, useConversation } from './conversation';
import type { Scope } from './scope';

/** How the next question is searched; administrators alone know the presets by their names. */
function PresetSelect() {
  const { ask: t } = useMessages();
  const { preset } = useConversation();
  const presets = useQuery(presetsQuery);
  const names = (presets.data ?? []).filter((one) => one.preset_type === 'retrieval').map(({ name }) => name);
  return (
    <Select
      label={t.preset}
      data={[{ value: '', label: t.ownPreset }, ...names.map((name) => ({ value: name, label: name }))]}
      value={preset ?? ''}
      onChange={(chosen) => conversation.setAbout({ preset: chosen === '' ? null : chosen })}
      allowDeselect={false}
    />
  );
}

/** What the next question is about: everything, a partition, a workspace or a file of it. */
export function ScopeSelect() {
  const { ask: t } = useMessages();
  const { partition, workspace, file_id: file } = useConversation().scope;
  const isAdmin = useSession().data?.user?.is_admin === true;
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
  const about = (scope: Partial<Scope>) =>
    conversation.setAbout({ scope: { partition: null, workspace: null, file_id: null, ...scope } });
  return (
    <Group gap="sm" align="end">
      <Select
        label={t.scope}
        data={[{ value: '', label: t.allPartitions }, ...names.map((name) => ({ value: name, label: name }))]}
        value={partition ?? ''}
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
      {isAdmin && <PresetSelect />}
    </Group>
  );
}
