import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  label: string;
  /** The least width before it scrolls sideways. */
  minWidth: number;
  children: ReactNode;
}

/** A short table that scrolls sideways on narrow screens, by keyboard as well. */
export function ScrollTable({ label, minWidth, children }: Props) {
  return (
    <div style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label={label}>
      <Table aria-label={label} miw={minWidth} verticalSpacing="xs">
        {children}
      </Table>
    </div>
  );
}
