import { Button, Group, Progress, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { useErrorText } from '../../../shared/error-text';
import { isOver, isThere, percentOf, UploadFault } from './upload';
import type { Upload } from './upload';
import { uploadQueue } from './upload-queue';

const COLOURS = { failed: 'red', cancelled: 'gray', done: 'green' } as const;

function useSaid(upload: Upload): string {
  const { phase, sent, stage, error } = upload;
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const errorText = useErrorText();
  if (phase === 'waiting') return error === null ? t.waiting : t.waitsForServer;
  if (phase === 'uploading') return t.uploading(format.percent(sent));
  if (phase === 'indexing') return t.stages[stage];
  if (phase === 'done') return t.stages.done;
  if (phase === 'cancelled') return t.uploadCancelled;
  if (isThere(upload)) return t.uploadExists;
  const reason =
    error instanceof UploadFault
      ? t.uploadFaults[error.kind]
      : typeof error === 'string'
        ? error
        : errorText(error);
  return `${t.uploadFailed}${common.colon}${reason === '' ? common.errorUnknown : reason}`;
}

export const UploadRow = memo(({ upload }: { upload: Upload }) => {
  const { documents: t, common } = useMessages();
  const said = useSaid(upload);
  const drop = useMutation({ mutationFn: () => uploadQueue.drop(upload.id) });
  const { id, phase, fileId, file } = upload;
  const colour = phase in COLOURS ? COLOURS[phase as keyof typeof COLOURS] : 'tamis';
  return (
    <div>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Text size="sm" truncate title={fileId}>
          {file.name}
          {file.name !== fileId && (
            <Text span c="dimmed" size="xs">
              {' '}
              {fileId}
            </Text>
          )}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" c={phase === 'failed' ? 'error' : 'dimmed'} lineClamp={2}>
            {said}
          </Text>
          {!isOver(upload) && (
            <Button
              size="compact-xs"
              variant="default"
              style={{ flexShrink: 0 }}
              aria-label={`${common.cancel}${common.colon}${fileId}`}
              loading={drop.isPending}
              onClick={() => drop.mutate()}
            >
              {common.cancel}
            </Button>
          )}
          {phase === 'failed' && (
            <Button
              size="compact-xs"
              variant="default"
              style={{ flexShrink: 0 }}
              onClick={() => uploadQueue.again(id, upload.replace || isThere(upload))}
            >
              {isThere(upload) ? t.replace : common.retry}
            </Button>
          )}
        </Group>
      </Group>
      <Progress
        value={percentOf(upload)}
        color={colour}
        size="sm"
        aria-label={fileId}
        transitionDuration={200}
      />
    </div>
  );
});
UploadRow.displayName = 'UploadRow';
