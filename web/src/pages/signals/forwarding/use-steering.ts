import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';

interface Step {
  kind: 'pause' | 'resume' | 'retry' | 'release' | 'discard' | 'discard-deferred';
  /** Of a discard; the server keeps it with the signals. */
  reason?: string;
}

function steer(watcher: string, { kind, reason = '' }: Step): Promise<unknown> {
  const params = { path: { watcher } };
  switch (kind) {
    case 'pause':
      return api.POST('/api/forwarding/{watcher}/pause', { params });
    case 'resume':
      return api.POST('/api/forwarding/{watcher}/resume', { params });
    case 'retry':
      return api.POST('/api/forwarding/{watcher}/retry', { params });
    case 'release':
      return whileLeft(() => bodyOf(api.POST('/api/forwarding/{watcher}/release', { params })));
    case 'discard':
    case 'discard-deferred': {
      const body = { reason, deferred: kind === 'discard-deferred' };
      return whileLeft(() => bodyOf(api.POST('/api/forwarding/{watcher}/discard', { params, body })));
    }
  }
}

/** The server does so many at a time, and says whether there may be more. */
async function whileLeft(step: () => Promise<{ left: boolean }>): Promise<void> {
  while ((await step()).left);
}

/** What an administrator does to the queue of a watcher. */
export function useSteering(watcher: string) {
  const { signals: t } = useMessages();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (step: Step) => steer(watcher, step),
    onSuccess: () => notifications.show({ color: 'green', message: t.done }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['signals'] }),
  });
}
