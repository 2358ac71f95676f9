import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { SwapState } from '../../../shared/swap-state';
import type { Swap } from '../../../shared/swap-state';
import { configQuery, swapQuery } from './queries';
import { StartSwap } from './start-swap';

function GiveUp({ swap: { partition, source_embedder: source } }: { swap: Swap }) {
  const { documents: t, operations } = useMessages();
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.DELETE('/partition/{partition}/embedder-swap', { params: { path: { partition } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: swapQuery(partition).queryKey }),
  });
  return (
    <ConfirmButton
      label={operations.cancel}
      question={t.cancelSwapQuestion(source)}
      onConfirm={() => cancel.mutate()}
    />
  );
}

/** Reads the partition anew when a move has ended that was not over before: it may have another embedder now. */
function useFreshEmbedder(partition: string, swap: Swap | null | undefined): void {
  const queryClient = useQueryClient();
  /** When the last move began that was seen to be over; undefined: none was looked at yet. */
  const known = useRef<string | null>(undefined);
  const over = swap == null || swap.status === 'running' ? null : swap.started_at;
  useEffect(() => {
    if (swap === undefined) return;
    if (known.current !== undefined && over !== null && over !== known.current)
      for (const queryKey of [configQuery(partition).queryKey, ['partitions']])
        void queryClient.invalidateQueries({ queryKey });
    known.current = over;
  }, [swap, over, partition, queryClient]);
}

/** By what the partition's texts are compared, and its move to another embedder. */
export function Embedder({ partition, embedder }: { partition: string; embedder: string }) {
  const { documents: t, common } = useMessages();
  const swap = useQuery(swapQuery(partition));
  useFreshEmbedder(partition, swap.data);
  return (
    <Stack gap="xs">
      <Text size="sm">
        {t.embedder}
        {common.colon}
        <b>{embedder}</b>
      </Text>
      {swap.data != null && <SwapState swap={swap.data} actions={<GiveUp swap={swap.data} />} />}
      {swap.data?.status !== 'running' && <StartSwap partition={partition} embedder={embedder} />}
    </Stack>
  );
}
