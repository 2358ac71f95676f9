import { useMediaQuery } from '@mantine/hooks';

/** Whether the window is about as wide as a telephone. */
export function useNarrow(): boolean {
  return useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false });
}

/** Whether the navigation is folded away behind a button; `sm` in the shell's styles. */
export function useFolded(): boolean {
  return useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false });
}
