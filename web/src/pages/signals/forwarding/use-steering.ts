import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { steer } from './steer';
import type { Step } from './steer';

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
