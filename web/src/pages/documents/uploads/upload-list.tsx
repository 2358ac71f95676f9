import { Button, Group, Paper, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import { isOver } from './upload';
import type { Upload } from './upload';
import { uploadQueue } from './upload-queue';
import { UploadRow } from './upload-row';

export function UploadList({ partition, uploads }: { partition: string; uploads: readonly Upload[] }) {
  const { documents: t } = useMessages();
  if (uploads.length === 0) return null;
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
          {uploads.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </Stack>
      </ScrollArea.Autosize>
    </Paper>
  );
}
