import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { MarkedText } from '../../../shared/marked-text';
import type { TextRange } from '../../../shared/marked-text';
import { textOf } from '../queries';
import classes from './chunk-list.module.css';

interface Chunk {
  content: string;
  metadata: Record<string, unknown>;
}

interface Props {
  chunks: readonly Chunk[];
  marked: { extract: string | null; range: TextRange | null };
  /** Shows the page of an extract; left out where the file has none to show. */
  onPage?: ((extract: string) => void) | undefined;
}

export function ChunkList({ chunks, marked, onPage }: Props) {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const frame = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: chunks.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 220,
    overscan: 6,
  });
  const target = chunks.findIndex(({ metadata }) => metadata['_id'] === marked.extract);
  useEffect(() => {
    if (target >= 0) virtualizer.scrollToIndex(target, { align: 'center' });
  }, [target, virtualizer]);
  return (
    <div ref={frame} className={classes['frame']} tabIndex={0} role="region" aria-label={t.chunks}>
      <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const chunk = chunks[index] as Chunk;
          const isTarget = index === target;
          const ranges = isTarget && marked.range !== null ? [marked.range] : [];
          return (
            <div
              key={index}
              ref={virtualizer.measureElement}
              data-index={index}
              className={classes['item']}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Paper withBorder p="md" className={isTarget ? (classes['target'] ?? '') : ''}>
                <Stack gap="xs">
                  <Group gap="xs">
                    <Text size="sm" c="dimmed">
                      {t.extractNumber(format.number(index + 1))}
                    </Text>
                    {typeof chunk.metadata['page'] === 'number' && (
                      <Badge variant="default">{t.page(chunk.metadata['page'])}</Badge>
                    )}
                    {chunk.metadata['chunk_type'] !== 'text' && (
                      <Badge variant="default">{textOf(chunk.metadata['chunk_type'])}</Badge>
                    )}
                    {onPage !== undefined && typeof chunk.metadata['page'] === 'number' && (
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`${t.showPage}${common.colon}${t.extractNumber(format.number(index + 1))}`}
                        onClick={() => onPage(textOf(chunk.metadata['_id']))}
                      >
                        {t.showPage}
                      </Button>
                    )}
                    {ranges.length > 0 && <Text size="sm">{t.highlighted}</Text>}
                  </Group>
                  <Text component="div" className={classes['text'] ?? ''}>
                    <MarkedText text={chunk.content} ranges={ranges} />
                  </Text>
                </Stack>
              </Paper>
            </div>
          );
        })}
      </div>
    </div>
  );
}
