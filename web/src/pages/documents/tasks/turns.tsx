import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../api/schema.gen';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { usersQuery } from '../../operations/users/queries';

type Task = components['schemas']['QueueTask'];

/** Whose tasks wait and run: users take turns, so that many files of one do not hold up those of another. */
export function Turns({ tasks }: { tasks: readonly Task[] }) {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const users = useQuery(usersQuery);
  const names = new Map(users.data?.map(({ id, display_name: name }) => [id, name]));
  const turns = new Map<number, { waiting: number; running: number }>();
  for (const { state, details } of tasks) {
    if (state !== 'QUEUED' && state !== 'SERIALIZING') continue;
    const turn = turns.get(details.user_id) ?? { waiting: 0, running: 0 };
    turn[state === 'QUEUED' ? 'waiting' : 'running'] += 1;
    turns.set(details.user_id, turn);
  }
  if (turns.size === 0) return null;
  return (
    <Group gap="xs" aria-label={t.turns} role="group">
      <Text size="sm">{t.turns}</Text>
      {[...turns].map(([user, { waiting, running }]) => (
        <Badge key={user} variant="default">
          {t.turn(names.get(user) ?? common.user(user), format.number(running), format.number(waiting))}
        </Badge>
      ))}
    </Group>
  );
}
