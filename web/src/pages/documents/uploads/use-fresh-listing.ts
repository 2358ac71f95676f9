import { useThrottledValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { isOver } from './upload';
import type { Upload } from './upload';

const READ_EVERY_MS = 5_000;

/** Reads the files anew as uploads end: now and then while others go on, and once more behind the last one. */
export function useFreshListing(partition: string, uploads: readonly Upload[]): void {
  const queryClient = useQueryClient();
  const finished = uploads.filter(({ phase }) => phase === 'done' || phase === 'failed').length;
  const goesOn = !uploads.every(isOver);
  const throttled = useThrottledValue(finished, READ_EVERY_MS);
  const counted = goesOn ? throttled : finished;
  useEffect(() => {
    if (counted === 0) return;
    // A long list that is being read is not begun anew, but for the last time: it may miss what ended meanwhile.
    for (const queryKey of [['files', partition], ['partitions'], ['tasks']])
      void queryClient.invalidateQueries({ queryKey }, { cancelRefetch: !goesOn });
  }, [counted, goesOn, partition, queryClient]);
}
