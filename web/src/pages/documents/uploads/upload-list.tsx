import { Button, Group, Paper, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { isOver } from './upload';
import type { Upload } from './upload';
import { uploadQueue } from './upload-queue';
import { UploadRow } from './upload-row';

/** A row is costly, and each step of an upload draws the list. */
const SHOWN = 100;

function rankOf({ phase }: Upload): number {
  if (phase === 'failed') return 0;
  return phase === 'uploading' ? 1 : 2;
}

/** So many of them, in their order: those that failed or are being sent, then the first of the others. */
function chooseShown(uploads: readonly Upload[], count: number): readonly Upload[] {
  if (uploads.length <= count) return uploads;
  const ranked = [...uploads].sort((one, other) => rankOf(one) - rankOf(other));
  return ranked.slice(0, count).sort((one, other) => one.id - other.id);
}

export function UploadList({ partition, uploads }: { partition: string; uploads: readonly Upload[] }) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const [count, setCount] = useState(SHOWN);
  if (uploads.length === 0) return null;
  const shown = chooseShown(uploads, count);
  const hidden = uploads.length - shown.length;
  const over = uploads.filter(isOver).length;
  return (
    <Paper withBorder p="md" component="section" aria-label={t.uploads}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5">
          {t.uploads}{' '}
          <Text span c="dimmed" size="sm" aria-live="polite">
            {over} / {uploads.length}
          </Text>
        </Title>
        <Button
          size="xs"
          variant="default"
          disabled={over === 0}
          onClick={() => uploadQueue.clearOver(partition)}
        >
          {t.clearDone}
        </Button>
      </Group>
      <ScrollArea.Autosize mah={280} type="auto">
        <Stack gap="xs">
          {shown.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
          {hidden > 0 && (
            <Button
              size="xs"
              variant="default"
              style={{ alignSelf: 'start', flexShrink: 0 }}
              onClick={() => setCount(count + SHOWN)}
            >
              {t.moreUploads(format.number(hidden))}
            </Button>
          )}
        </Stack>
      </ScrollArea.Autosize>
    </Paper>
  );
}
