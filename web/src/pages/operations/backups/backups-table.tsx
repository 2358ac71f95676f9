import { Badge, Checkbox, Group, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import type { Backup } from './queries';

function Steering({ backup: { backup_id: id, usable } }: { backup: Backup }) {
  const { operations: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [replace, setReplace] = useState(false);
  const onSettled = () => queryClient.invalidateQueries({ queryKey: ['operations'] });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/admin/backups/{backup_id}', { params: { path: { backup_id: id } } }),
    onSettled,
  });
  const restore = useMutation({
    mutationFn: () => api.POST('/admin/restores', { body: { backup_id: id, replace } }),
    onSettled,
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <ConfirmButton
        label={t.restore}
        disabled={!usable}
        question={
          <Stack gap="sm">
            {t.restoreQuestion(id)}
            <Checkbox
              label={t.restoreReplace}
              checked={replace}
              onChange={(event) => setReplace(event.currentTarget.checked)}
            />
          </Stack>
        }
        onConfirm={() => restore.mutate()}
      />
      <ConfirmButton
        label={common.delete}
        question={t.deleteBackupQuestion(id)}
        onConfirm={() => remove.mutate()}
      />
    </Group>
  );
}

function Notes({ backup: { usable, vectors, secrets_key: key, key_known: known } }: { backup: Backup }) {
  const { operations: t } = useMessages();
  const notes = [
    ...(usable ? [] : [t.notUsable]),
    ...(key !== null && !known ? [t.keyUnknown] : []),
    ...(vectors === false ? [t.withoutVectors] : []),
  ];
  return notes.map((note) => (
    <Badge key={note} variant="dot" color="orange" tt="none">
      {note}
    </Badge>
  ));
}

export function BackupsTable({ backups }: { backups: readonly Backup[] }) {
  const { operations: t, common } = useMessages();
  const format = useFormat();
  return (
    <ScrollTable label={t.backups} minWidth={820}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.backup}</Table.Th>
          <Table.Th>{t.made}</Table.Th>
          <Table.Th>{t.holds}</Table.Th>
          <Table.Th>{common.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {backups.map((backup) => {
          const { backup_id: id, finished_at: at, counts, bytes } = backup;
          const records = Object.values(counts).reduce((sum, count) => sum + count, 0);
          return (
            <Table.Tr key={id}>
              <Table.Td>
                <Text size="sm" fw={600}>
                  {id}
                </Text>
                <Notes backup={backup} />
              </Table.Td>
              <Table.Td>{at !== null && <Time at={at} />}</Table.Td>
              <Table.Td>
                {t.backupHolds(format.number(counts['files'] ?? 0), format.number(records))}
                {bytes !== null && ` · ${format.size(bytes)}`}
              </Table.Td>
              <Table.Td>
                <Steering backup={backup} />
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </ScrollTable>
  );
}
