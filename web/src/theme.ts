import { Badge, createTheme, virtualColor } from '@mantine/core';
import type { CSSVariablesResolver } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'tamis',
  primaryShade: 9,
  colors: {
    tamis: virtualColor({ name: 'tamis', light: 'cyan', dark: 'cyan' }),
  },
  components: {
    Badge: Badge.extend({ styles: { root: { textTransform: 'none' } } }),
  },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
});

/** Texts that Mantine makes too pale for the contrast of WCAG AA. */
export const readableVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#495057',
    '--mantine-color-placeholder': '#6b7178',
    '--mantine-color-error': '#c92a2a',
  },
  dark: {
    '--mantine-color-dimmed': '#b8bcc2',
    '--mantine-color-placeholder': '#9aa0a6',
    '--mantine-color-error': '#ff8787',
  },
});
