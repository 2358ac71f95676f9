import { Badge, Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { components } from '../api/schema.gen';
import { useFormat } from '../i18n/format';
import { useMessages } from '../i18n/language';
import { Facts } from './facts';
import { TemporalLink } from './temporal-link';
import { Time } from './time';

/** A move of a partition to another embedder. */
export type Swap = components['schemas']['EmbedderSwap'];

const COLOURS = { running: 'blue', completed: 'green', failed: 'red', cancelled: 'gray' } as const;

/** What was measured of both embedders before the partition went over, or stayed. */
function GateFigures({
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

/**
 * How far a move is or how it ended, and what its gates measured.
 * @param props.actions what one can do about one that goes on
 */
export function SwapState({ swap, actions }: { swap: Swap; actions?: ReactNode }) {
  const { documents: t, server } = useMessages();
  const format = useFormat();
  const { partition, status, files_done: done, files_total: total, error, error_code: code } = swap;
  const said = total === null ? format.number(done) : `${format.number(done)} / ${format.number(total)}`;
  return (
    <Stack gap="xs" role="group" aria-label={t.swapOf(swap.source_embedder, swap.target_embedder)}>
      <Group gap="sm">
        <Badge variant="dot" color={COLOURS[status]}>
          {t.swapStatuses[status]}
        </Badge>
        <Text size="sm">
          {t.swapOf(swap.source_embedder, swap.target_embedder)} · <Time at={swap.started_at} />
        </Text>
        {status === 'running' && <TemporalLink target={{ partition }} name={partition} />}
        {status === 'running' && actions}
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
          {server.errors[code ?? ''] ?? error}
        </Text>
      )}
      <GateFigures swap={swap} />
    </Stack>
  );
}
