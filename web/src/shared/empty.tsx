import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Nothing to show: says so, and what the first step is. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="xs">
        <Text fw={600} ta="center">
          {title}
        </Text>
        {children !== undefined && (
          <Text component="div" c="dimmed" size="sm" ta="center" maw={560}>
            {children}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
