import { Badge, Group, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Facts } from '../../../shared/facts';
import { TemporalLink } from '../../../shared/temporal-link';
import { Time } from '../../../shared/time';
import { swapQuery } from './queries';
import type { Swap } from './queries';
import { StartSwap } from './start-swap';

const COLOURS = { running: 'blue', completed: 'green', failed: 'red', cancelled: 'gray' } as const;

/** What was measured of both embedders before the partition went over, or stayed. */
function Gates({
  swap: { figures, min_overlap: overlap, min_known_item: known, min_ndcg: ndcg },
}: {
  swap: Swap;
}) {
  const { documents: t, evaluation } = useMessages();
  const format = useFormat();
  if (figures === null) return null;
  const atLeast = (value: string, least: number | null): string =>
    least === null ? value : `${value} (${t.atLeast(format.score(least))})`;
  const change = (before: number, after: number): string =>
    `${format.score(before)} → ${format.score(after)}`;
  const { questions } = figures;
  return (
    <Facts
      label={t.swapFigures}
      facts={[
        [t.swapSampled, format.number(figures.sampled)],
        [t.swapOverlap, atLeast(format.percent(figures.overlap), overlap)],
        [t.swapKnown, atLeast(change(figures.known_item_before, figures.known_item_after), known)],
        [
          evaluation.measures.ndcg_10,
          questions === null ? null : atLeast(change(questions.ndcg_before, questions.ndcg_after), ndcg),
        ],
      ]}
    />
  );
}

function Latest({ partition, swap }: { partition: string; swap: Swap }) {
  const { documents: t, evaluation, operations, server } = useMessages();
  const format = useFormat();
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.DELETE('/partition/{partition}/embedder-swap', { params: { path: { partition } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: swapQuery(partition).queryKey }),
  });
  const { status, files_done: done, files_total: total, error } = swap;
  const said = total === null ? format.number(done) : `${format.number(done)} / ${format.number(total)}`;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Badge variant="dot" color={COLOURS[status]}>
          {evaluation.statuses[status]}
        </Badge>
        <Text size="sm">
          {t.swapOf(swap.source_embedder, swap.target_embedder)} · <Time at={swap.started_at} />
        </Text>
        {status === 'running' && <TemporalLink target={{ partition }} name={partition} />}
        {status === 'running' && (
          <ConfirmButton
            label={operations.cancel}
            question={t.cancelSwapQuestion(swap.source_embedder)}
            onConfirm={() => cancel.mutate()}
          />
        )}
      </Group>
      {status === 'running' && (
        <>
          <Text size="sm">
            {server.phases[swap.phase] ?? swap.phase}, {said}
          </Text>
          {total !== null && (
            <Progress value={(100 * done) / Math.max(1, total)} animated aria-label={said} />
          )}
        </>
      )}
      {error !== null && (
        <Text size="sm" c="error">
          {error}
        </Text>
      )}
      <Gates swap={swap} />
    </Stack>
  );
}

/** By what the partition's texts are compared, and its move to another embedder. */
export function Embedder({ partition, embedder }: { partition: string; embedder: string }) {
  const { documents: t, common } = useMessages();
  const swap = useQuery(swapQuery(partition));
  return (
    <Stack gap="xs">
      <Text size="sm">
        {t.embedder}
        {common.colon}
        <b>{embedder}</b>
      </Text>
      {swap.data != null && <Latest partition={partition} swap={swap.data} />}
      {swap.data?.status !== 'running' && <StartSwap partition={partition} embedder={embedder} />}
    </Stack>
  );
}
