import { UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { useMessages } from '../i18n/language';
import classes from './virtual-table.module.css';

export interface Column<T> {
  key: string;
  header: string;
  /** Shown in the header's place. */
  head?: ReactNode;
  /** A track of a CSS grid. */
  width: string;
  cell: (row: T) => ReactNode;
  sortable?: boolean;
}

export interface Sort {
  key: string;
  descending: boolean;
}

interface Props<T> {
  label: string;
  rows: readonly T[];
  /** How long the table is to be where the last rows are still to come. */
  total?: number;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string | number;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** Called when the last rows come into sight. */
  onEnd?: () => void;
  rowHeight?: number;
  /** The least width before the table scrolls sideways. */
  minWidth?: number;
}

const NEAR_THE_END = 40;
/** With both borders, and room for a scroll bar at the bottom. */
const HEAD_HEIGHT = 56;

interface RowProps<T> {
  row: T;
  columns: readonly Column<T>[];
  index: number;
  start: number;
  height: number;
  grid: CSSProperties;
}

function TableRow<T>({ row, columns, index, start, height, grid }: RowProps<T>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`${classes['row']} ${classes['body']}`}
      style={{ ...grid, height, transform: `translateY(${start}px)` }}
    >
      {columns.map(({ key, cell }) => (
        <div key={key} role="cell" className={classes['cell']}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}

/** While one scrolls, rows that stay in sight are not drawn anew. */
const SteadyRow = memo(TableRow) as typeof TableRow;

/** A table of any length: only the rows in sight are in the page. */
export function VirtualTable<T>(props: Props<T>) {
  const { label, rows, columns, rowKey, sort, onSort, onEnd, rowHeight = 44, minWidth = 700 } = props;
  const count = Math.max(rows.length, props.total ?? 0);
  const { common: t } = useMessages();
  const frame = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const nearEnd = rows.length > 0 && last >= rows.length - NEAR_THE_END;
  useEffect(() => {
    if (nearEnd) onEnd?.();
  }, [nearEnd, rows.length, onEnd]);
  const tracks = columns.map(({ width }) => width).join(' ');
  const grid = useMemo(() => ({ gridTemplateColumns: tracks, minWidth }), [tracks, minWidth]);
  return (
    <div
      ref={frame}
      className={classes['frame']}
      style={{ height: `min(max(320px, 100dvh - 300px), ${count * rowHeight + HEAD_HEIGHT}px)` }}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <div role="table" aria-label={label} aria-rowcount={count + 1} style={{ minWidth }}>
        <div role="rowgroup" className={classes['head']}>
          <div role="row" className={classes['row']} style={grid} aria-rowindex={1}>
            {columns.map(({ key, header, head, sortable }) => (
              <div
                key={key}
                role="columnheader"
                className={classes['cell']}
                aria-sort={sort?.key === key ? (sort.descending ? 'descending' : 'ascending') : undefined}
              >
                {sortable && onSort ? (
                  <UnstyledButton
                    className={classes['sort']}
                    aria-label={t.sortBy(header)}
                    onClick={() => onSort({ key, descending: sort?.key === key && !sort.descending })}
                  >
                    {header} {sort?.key === key ? (sort.descending ? '↓' : '↑') : ''}
                  </UnstyledButton>
                ) : (
                  (head ?? header)
                )}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <SteadyRow key={rowKey(row)} {...{ row, columns, index, start, grid }} height={rowHeight} />
            );
          })}
        </div>
      </div>
    </div>
  );
}
