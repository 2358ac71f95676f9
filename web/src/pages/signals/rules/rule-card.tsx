import { Badge, Button, Code, Group, Paper, Text } from '@mantine/core';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { More } from '../../../shared/more';
import { Time } from '../../../shared/time';
import type { Rule } from '../queries';

/** The name of the file alone: where the folder is says the operator's configuration. */
function fileName(path: string): string {
  return path.split('/').at(-1) ?? path;
}

export function RuleCard({ rule, onTry }: { rule: Rule; onTry: () => void }) {
  const { signals: t, common } = useMessages();
  const format = useFormat();
  const { name, description, enabled, watchers, file, filter, matches, lastMatch } = rule;
  const text = JSON.stringify(filter, null, 2);
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Badge variant="dot" color={enabled ? 'green' : 'gray'}>
            {enabled ? t.enabled : t.disabled}
          </Badge>
          {file !== null && <Badge variant="default">{fileName(file)}</Badge>}
        </Group>
        <Group gap="md">
          <Text size="sm">
            {t.matches}
            {common.colon}
            {format.number(matches)}
          </Text>
          <Text size="sm" c="dimmed">
            {t.lastMatch}
            {common.colon}
            {lastMatch === null ? t.never : <Time at={lastMatch} />}
          </Text>
          <Button size="xs" variant="default" onClick={onTry} aria-label={`${t.tryIt}${common.colon}${name}`}>
            {t.tryIt}
          </Button>
        </Group>
      </Group>
      {description !== null && <Text size="sm">{description}</Text>}
      {watchers !== null && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {t.onlyWatchers}
          {common.colon}
          {watchers.join(', ')}
        </Text>
      )}
      <More label={t.showCondition}>
        <Code block tabIndex={0}>
          {text}
        </Code>
      </More>
    </Paper>
  );
}
