import { Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { QueryView } from '../../../shared/query-view';
import { SwapState } from '../../../shared/swap-state';
import type { Swap } from '../../../shared/swap-state';
import { swapsQuery } from './queries';

const ENDED_SHOWN = 3;

/** All that go on, and the last that ended. */
function worthALook(swaps: readonly Swap[]): Swap[] {
  const isOpen = ({ status }: Swap): boolean => status === 'running';
  return [...swaps.filter(isOpen), ...swaps.filter((swap) => !isOpen(swap)).slice(0, ENDED_SHOWN)];
}

/** Moves of partitions to another embedder, with what their gates measured. */
export function Swaps() {
  const { operations: t } = useMessages();
  const swaps = useQuery(swapsQuery);
  return (
    <section aria-label={t.swaps}>
      <Title order={2} size="h4">
        {t.swaps}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.swapsHint}
      </Text>
      <QueryView query={swaps}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t.noSwaps}</Text>
          ) : (
            <Stack gap="sm">
              {worthALook(list).map((swap) => (
                <Paper key={swap.swap_id} withBorder p="md" component="article" aria-label={swap.partition}>
                  <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {swap.partition}
                  </Text>
                  <SwapState swap={swap} />
                </Paper>
              ))}
            </Stack>
          )
        }
      </QueryView>
    </section>
  );
}
