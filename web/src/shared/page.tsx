import { Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { arriveAt } from './arrival';

interface Props {
  title: string;
  /** Beside the title, for what one does on this page. */
  actions?: ReactNode;
  hint?: ReactNode;
  children: ReactNode;
}

/** The frame of a page; its title is also that of the browser's tab. */
export function Page({ title, actions, hint, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [location] = useLocation();
  // Before the effects of what is on the page, which may scroll to a place of its own.
  useLayoutEffect(() => arriveAt(heading.current), [location]);
  useEffect(() => {
    document.title = `${title} · Tamis`;
  }, [title]);
  return (
    <Stack gap="md" maw={1600} mx="auto">
      <Group justify="space-between" align="end" gap="sm">
        <div style={{ minWidth: 0 }}>
          <Title ref={heading} tabIndex={-1} order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {hint !== undefined && (
            <Text c="dimmed" size="sm">
              {hint}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
