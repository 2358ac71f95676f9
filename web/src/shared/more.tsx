import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** What is shown on demand. */
export function More({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Box component="details" mt={4}>
      <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
        {label}
      </Text>
      {children}
    </Box>
  );
}
