import { Button, Group, Paper, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { isOver, isThere } from './upload';
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

/** One choice for all whose id is taken: a folder that is dropped again has hundreds of them. */
function ThereAlready({ partition, count }: { partition: string; count: number }) {
  const { documents: t } = useMessages();
  const format = useFormat();
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm">{t.uploadsExist(format.number(count))}</Text>
      <Button size="compact-xs" variant="default" onClick={() => uploadQueue.replaceAll(partition)}>
        {t.replaceAll}
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => uploadQueue.leaveAll(partition)}>
        {t.leaveAll}
      </Button>
    </Group>
  );
}

export function UploadList({ partition, uploads }: { partition: string; uploads: readonly Upload[] }) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const [count, setCount] = useState(SHOWN);
  const dropAll = useMutation({ mutationFn: () => uploadQueue.dropAll(partition) });
  if (uploads.length === 0) return null;
  const shown = chooseShown(uploads, count);
  const hidden = uploads.length - shown.length;
  const over = uploads.filter(isOver).length;
  const there = uploads.filter(isThere).length;
  return (
    <Paper withBorder p="md" component="section" aria-label={t.uploads}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5">
          {t.uploads}{' '}
          <Text span c="dimmed" size="sm" aria-live="polite">
            {over} / {uploads.length}
          </Text>
        </Title>
        <Group gap="xs">
          {over < uploads.length && (
            <ConfirmButton
              label={t.dropAll}
              question={t.dropAllQuestion(format.number(uploads.length - over))}
              loading={dropAll.isPending}
              onConfirm={() => dropAll.mutate()}
            />
          )}
          <Button
            size="xs"
            variant="default"
            disabled={over === 0}
            onClick={() => uploadQueue.clearOver(partition)}
          >
            {t.clearDone}
          </Button>
        </Group>
      </Group>
      {there > 1 && <ThereAlready partition={partition} count={there} />}
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
