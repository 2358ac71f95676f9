import { Badge, Code, Group, List, Paper, Text } from '@mantine/core';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { More } from '../../../shared/more';
import type { Preset } from './queries';

export function PresetCard({ preset }: { preset: Preset }) {
  const { operations: t } = useMessages();
  const format = useFormat();
  const { name, preset_type: type, config, used_by_partitions: users, warnings = [] } = preset;
  return (
    <Paper withBorder p="md" component="article" aria-label={`${t.presetKinds[type]}: ${name}`}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          <Badge variant="default">{t.presetKinds[type]}</Badge>
        </Group>
        <Text size="sm" c="dimmed">
          {t.usedBy(format.number(users))}
        </Text>
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
    </Paper>
  );
}
