import { Badge, Button, Code, Group, List, Paper, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { More } from '../../../shared/more';
import { PresetEditor } from './preset-editor';
import type { Preset } from './queries';

/** Whatever names a preset that is gone gets this one; it stays. */
const FALLBACK = 'default';

export function PresetCard({ preset }: { preset: Preset }) {
  const { operations: t, common } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const [edited, setEdited] = useState(false);
  const { name, preset_type: type, config, used_by_partitions: users, warnings = [] } = preset;
  const remove = useMutation({
    mutationFn: () => api.DELETE('/presets/{type}/{name}', { params: { path: { type, name } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['models'] }),
  });
  return (
    <Paper withBorder p="md" component="article" aria-label={`${t.presetKinds[type]}${common.colon}${name}`}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          <Badge variant="default">{t.presetKinds[type]}</Badge>
        </Group>
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {t.usedBy(format.number(users))}
          </Text>
          <Button size="xs" variant="default" aria-label={t.editPreset(name)} onClick={() => setEdited(true)}>
            {t.edit}
          </Button>
          {name !== FALLBACK && users === 0 && (
            <ConfirmButton
              label={common.delete}
              aria-label={`${common.delete}${common.colon}${name}`}
              question={t.deletePresetQuestion(name)}
              onConfirm={() => remove.mutate()}
            />
          )}
        </Group>
      </Group>
      {warnings.length > 0 && (
        <List size="sm">
          {warnings.map((warning) => (
            <List.Item key={warning}>{warning}</List.Item>
          ))}
        </List>
      )}
      <More label={t.settings}>
        <Code block tabIndex={0}>
          {JSON.stringify(config, null, 2)}
        </Code>
      </More>
      {edited && <PresetEditor preset={preset} onClose={() => setEdited(false)} />}
    </Paper>
  );
}
