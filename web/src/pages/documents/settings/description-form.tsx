import { Button, Group, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { configQuery } from './queries';

interface Props {
  partition: string;
  /** As it is stored; it changes under the form when another user saves one. */
  description: string;
}

export function DescriptionForm({ partition, description }: Props) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  /** What was typed and is not stored yet; null: nothing. */
  const [typed, setTyped] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: (text: string) =>
      send(`/partition/${encodeURIComponent(partition)}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ description: text }),
      }),
    onSuccess: async (_answer, text) => {
      notifications.show({ color: 'green', message: t.saved });
      await Promise.all(
        [['partitions'], configQuery(partition).queryKey].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      );
      // What was typed in the meantime stays.
      setTyped((now) => (now === text ? null : now));
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== null) save.mutate(typed);
      }}
    >
      <Textarea
        label={t.description}
        autosize
        minRows={2}
        maxRows={8}
        value={typed ?? description}
        onChange={({ currentTarget: { value } }) =>
          setTyped(value === description && !save.isPending ? null : value)
        }
      />
      <Group justify="end" mt="xs">
        <Button type="submit" loading={save.isPending} disabled={typed === null || typed === description}>
          {common.save}
        </Button>
      </Group>
    </form>
  );
}
