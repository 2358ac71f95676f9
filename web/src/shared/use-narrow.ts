import { useMediaQuery } from '@mantine/hooks';

/** Whether the window is about as wide as a telephone. */
export function useNarrow(): boolean {
  return useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false });
}
