import { Button, Group, Progress, Text } from '@mantine/core';
import { memo } from 'react';
import { ApiError } from '../../../api/api-error';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { useErrorText } from '../../../shared/error-text';
import { percentOf, UploadFault } from './upload';
import type { Upload } from './upload';
import { uploadQueue } from './upload-queue';

const COLOURS = { failed: 'red', cancelled: 'gray', done: 'green' } as const;

/** A file with this id is there: it may be replaced. Other conflicts, as the same bytes under another name, stay. */
function isThere(error: Upload['error']): boolean {
  return error instanceof ApiError && error.status === 409 && error.code === null;
}

function useSaid({ phase, sent, stage, error }: Upload): string {
  const { documents: t, common } = useMessages();
  const format = useFormat();
  const errorText = useErrorText();
  if (phase === 'waiting') return error === null ? t.waiting : t.waitsForServer;
  if (phase === 'uploading') return t.uploading(format.percent(sent));
  if (phase === 'indexing') return t.stages[stage];
  if (phase === 'done') return t.stages.done;
  if (phase === 'cancelled') return t.uploadCancelled;
  if (isThere(error)) return t.uploadExists;
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
          {phase === 'waiting' && (
            <Button
              size="compact-xs"
              variant="default"
              style={{ flexShrink: 0 }}
              aria-label={`${common.cancel}${common.colon}${fileId}`}
              onClick={() => uploadQueue.drop(id)}
            >
              {common.cancel}
            </Button>
          )}
          {phase === 'failed' && (
            <Button
              size="compact-xs"
              variant="default"
              style={{ flexShrink: 0 }}
              onClick={() => uploadQueue.again(id, upload.replace || isThere(upload.error))}
            >
              {isThere(upload.error) ? t.replace : common.retry}
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
