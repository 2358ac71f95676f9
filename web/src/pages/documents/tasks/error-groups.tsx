import { Button, Group, Text } from '@mantine/core';
import type { components } from '../../../api/schema.gen';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';

type Task = components['schemas']['QueueTask'];

interface Props {
  tasks: readonly Task[];
  /** The code of the errors that are shown alone; null: all. */
  chosen: string | null;
  onChoose: (code: string | null) => void;
}

/** What the failed tasks failed of, the most frequent first; one of them can be shown alone. */
export function ErrorGroups({ tasks, chosen, onChoose }: Props) {
  const { documents: t, common, server } = useMessages();
  const format = useFormat();
  const groups = new Map<string, { count: number; message: string }>();
  for (const { state, error } of tasks) {
    if (state !== 'FAILED' || error === undefined) continue;
    const group = groups.get(error.code) ?? { count: 0, message: error.message };
    groups.set(error.code, { ...group, count: group.count + 1 });
  }
  if (groups.size === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label={t.errors}>
      <Text size="sm">{t.errors}</Text>
      {[...groups]
        .sort(([, one], [, other]) => other.count - one.count)
        .map(([code, { count, message }]) => (
          <Button
            key={code}
            size="compact-xs"
            variant={chosen === code ? 'filled' : 'default'}
            aria-pressed={chosen === code}
            title={server.errors[code] ?? message}
            onClick={() => onChoose(chosen === code ? null : code)}
          >
            {code}
            {common.colon}
            {format.number(count)}
          </Button>
        ))}
    </Group>
  );
}
