import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { pendingDeletions } from '../uploads/pending-deletions';

/** How long the notice stands that offers to undo it; longer while a person is at the notices. */
const UNDO_MS = 6_000;

function noticeOf(partition: string, file: string): string {
  return `delete-${partition}-${file}`;
}

/**
 * Files that are hidden at once and deleted when the notice that offers to undo it has gone. Leaving the page and
 * signing out delete them too: what was said to be deleted does not come back. A page shows one partition for as long
 * as it stands.
 */
export function useDeletedFiles(partition: string) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());

  const show = useCallback(
    (file: string) => setHidden((files) => new Set([...files].filter((other) => other !== file))),
    [],
  );
  const { mutateAsync } = useMutation({
    mutationFn: (file: string) =>
      send(`/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(file)}`, {
        method: 'DELETE',
        keepalive: true,
      }),
    onSettled: (_answer, _error, file) => {
      // Not awaited: the file is deleted when the server says so, and not when the list was read again.
      void queryClient.invalidateQueries({ queryKey: ['files', partition] }).then(() => {
        void queryClient.invalidateQueries({ queryKey: ['partitions'] });
        show(file);
      });
    },
  });

  const commit = useCallback(
    (file: string) => {
      if (pendingDeletions.commit(partition, file)) pendingDeletions.follow(mutateAsync(file));
    },
    [mutateAsync, partition],
  );
  useEffect(() => {
    // A notice that goes commits.
    const commitAll = () =>
      pendingDeletions.filesOf(partition).forEach((file) => notifications.hide(noticeOf(partition, file)));
    window.addEventListener('pagehide', commitAll);
    return () => {
      window.removeEventListener('pagehide', commitAll);
      commitAll();
    };
  }, [partition]);

  const remove = (file: string) => {
    setHidden((files) => new Set(files).add(file));
    const id = noticeOf(partition, file);
    const onUndo = () => {
      show(file);
      notifications.hide(id);
    };
    pendingDeletions.add({ partition, file, onUndo, onHurry: () => notifications.hide(id) });
    notifications.show({
      id,
      autoClose: UNDO_MS,
      onClose: () => commit(file),
      title: t.deleted(file),
      message: (
        <Group justify="space-between">
          <Text size="sm">{t.deletedHint}</Text>
          <Button size="compact-sm" variant="default" onClick={() => pendingDeletions.undo(partition, file)}>
            {common.undo}
          </Button>
        </Group>
      ),
    });
  };
  return { hidden, remove };
}
