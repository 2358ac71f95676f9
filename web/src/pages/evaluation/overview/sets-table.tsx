import { Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import type { QuestionSetVersion } from '../queries';

interface Props {
  partition: string;
  sets: readonly QuestionSetVersion[];
}

export function SetsTable({ partition, sets }: Props) {
  const { evaluation: t, common } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: (set: string) =>
      api.DELETE('/evaluation/partition/{partition}/question-sets/{set}', {
        params: { path: { partition, set } },
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['evaluation', partition] }),
  });
  return (
    <ScrollTable label={t.sets} minWidth={680}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{common.name}</Table.Th>
          <Table.Th>{t.questions}</Table.Th>
          <Table.Th>{t.notAnswerable}</Table.Th>
          <Table.Th>{t.uploaded}</Table.Th>
          <Table.Th>{common.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sets.map(({ name, version, questions, not_answerable: without, note, created_at: at }) => (
          <Table.Tr key={name}>
            <Table.Td>
              <Text size="sm" fw={600}>
                {name}
              </Text>
              <Text size="sm" c="dimmed">
                {t.version(version)}
                {note !== null && ` · ${note}`}
              </Text>
            </Table.Td>
            <Table.Td>{format.number(questions)}</Table.Td>
            <Table.Td>{format.number(without)}</Table.Td>
            <Table.Td>
              <Time at={at} />
            </Table.Td>
            <Table.Td>
              <ConfirmButton
                label={common.delete}
                question={t.deleteSetQuestion(name)}
                onConfirm={() => remove.mutate(name)}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}
