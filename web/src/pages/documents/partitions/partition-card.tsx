import { Anchor, Badge, Box, Card, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { to } from '../../../shared/routes';
import { SwapState } from '../../../shared/swap-state';
import { Time } from '../../../shared/time';
import { activeTasksQuery, mayOwn } from '../queries';
import type { PartitionRow } from '../queries';
import { uploadQueue } from '../uploads/upload-queue';

export function PartitionCard({ partition: row }: { partition: PartitionRow }) {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE('/partition/{partition}', { params: { path: { partition: row.partition } } }),
    onSuccess: () => uploadQueue.giveUp(row.partition),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['partitions'] }),
  });
  const count = format.number(row.document_count);
  const active = useQuery(activeTasksQuery).data?.get(row.partition) ?? 0;
  return (
    <Card withBorder component="article">
      <Group justify="space-between" wrap="nowrap" align="start">
        <Anchor
          component={Link}
          href={to.partition(row.partition)}
          fw={600}
          style={{ overflowWrap: 'anywhere' }}
        >
          {row.partition}
        </Anchor>
        {row.role !== undefined && <Badge variant="default">{t.roles[row.role]}</Badge>}
      </Group>
      {row.description !== '' && (
        <Text size="sm" lineClamp={3} mt={4}>
          {row.description}
        </Text>
      )}
      <Text size="xl" fw={700} mt="sm">
        {t.filesCount(count)}
      </Text>
      <Text size="sm">{t.chunksCount(format.number(row.chunk_count))}</Text>
      {active > 0 && (
        <Anchor component={Link} href={to.tasks} size="sm">
          {t.tasksAtWork(format.number(active))}
        </Anchor>
      )}
      <Text size="sm" c="dimmed">
        {t.embedder}
        {common.colon}
        {row.embedder}
      </Text>
      {row.embedder_swap !== null && (
        <Box mt="xs">
          <SwapState swap={row.embedder_swap} />
        </Box>
      )}
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="dimmed">
          {t.createdAgo} <Time at={row.created_at} />
        </Text>
        {mayOwn(row) && row.partition !== 'default' && (
          <ConfirmButton
            label={t.deletePartition}
            question={t.deletePartitionQuestion(row.partition, count)}
            loading={remove.isPending}
            onConfirm={() => remove.mutate()}
          />
        )}
      </Group>
    </Card>
  );
}
