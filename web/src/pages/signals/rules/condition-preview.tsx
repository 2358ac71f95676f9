import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import { RulePreview } from './rule-preview';

/** The condition, or what is wrong with its text. */
function read(json: string): { filter: unknown; fault: string | null } {
  try {
    return { filter: JSON.parse(json) as unknown, fault: null };
  } catch (error) {
    return { filter: null, fault: (error as Error).message };
  }
}

interface Props {
  condition: string;
  onChange: (condition: string) => void;
  /** Whose signals it is tried on; null: those of all. */
  watchers: string[] | null;
  onAllWatchers: () => void;
}

/** A condition as JSON, tried on stored signals. */
export function ConditionPreview({ condition, onChange, watchers, onAllWatchers }: Props) {
  const { signals: t, common } = useMessages();
  const { filter, fault } = read(condition);
  return (
    <Stack>
      <Textarea
        label={t.condition}
        autosize
        minRows={5}
        maxRows={24}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={condition}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={fault !== null && t.conditionBad(fault)}
      />
      {watchers !== null && (
        <Group gap="sm">
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {t.onlyWatchers}
            {common.colon}
            {watchers.join(', ')}
          </Text>
          <Button size="xs" variant="default" onClick={onAllWatchers}>
            {t.forAllWatchers}
          </Button>
        </Group>
      )}
      <RulePreview filter={filter} watchers={watchers} disabled={fault !== null} />
    </Stack>
  );
}
