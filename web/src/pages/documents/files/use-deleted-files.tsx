import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';

const UNDO_MS = 6_000;

/**
 * Files that are hidden at once and deleted some seconds later, unless that is undone. Leaving the page deletes them
 * too: what was said to be deleted does not come back.
 */
export function useDeletedFiles(partition: string) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const pending = useRef(new Map<string, ReturnType<typeof setTimeout>>());

  const show = useCallback(
    (file: string) => setHidden((files) => new Set([...files].filter((other) => other !== file))),
    [],
  );
  const { mutate } = useMutation({
    mutationFn: (file: string) =>
      send(`/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(file)}`, {
        method: 'DELETE',
        keepalive: true,
      }),
    onSettled: async (_answer, _error, file) => {
      await queryClient.invalidateQueries({ queryKey: ['files', partition] });
      void queryClient.invalidateQueries({ queryKey: ['partitions'] });
      show(file);
    },
  });

  const commit = useCallback(
    (file: string) => {
      clearTimeout(pending.current.get(file));
      if (pending.current.delete(file)) mutate(file);
    },
    [mutate],
  );
  useEffect(() => {
    const waiting = pending.current;
    const commitAll = () => [...waiting.keys()].forEach(commit);
    window.addEventListener('pagehide', commitAll);
    return () => {
      window.removeEventListener('pagehide', commitAll);
      commitAll();
    };
  }, [commit]);

  const remove = (file: string) => {
    setHidden((files) => new Set(files).add(file));
    pending.current.set(
      file,
      setTimeout(() => commit(file), UNDO_MS),
    );
    const id = `delete-${partition}-${file}`;
    const undo = () => {
      clearTimeout(pending.current.get(file));
      pending.current.delete(file);
      show(file);
      notifications.hide(id);
    };
    notifications.show({
      id,
      autoClose: UNDO_MS,
      title: t.deleted(file),
      message: (
        <Group justify="space-between">
          <Text size="sm">{t.deletedHint}</Text>
          <Button size="compact-sm" variant="default" onClick={undo}>
            {common.undo}
          </Button>
        </Group>
      ),
    });
  };
  return { hidden, remove };
}
