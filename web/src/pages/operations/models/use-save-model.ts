import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMessages } from '../../../i18n/language';
import { PresetChanged } from './save-preset';

/**
 * Saves what an editor of the models' page holds, says so and closes it.
 * @param save answers what the server warns of
 */
export function useSaveModel<Values>(
  save: (values: Values) => Promise<readonly string[]>,
  onClose: () => void,
) {
  const { documents } = useMessages();
  const queryClient = useQueryClient();
  const readAnew = () => queryClient.invalidateQueries({ queryKey: ['models'] });
  return useMutation({
    meta: { ownErrors: true },
    mutationFn: save,
    onSuccess: (warnings) => {
      const color = warnings.length === 0 ? 'green' : 'orange';
      notifications.show({ color, message: [documents.saved, ...warnings].join(' ') });
      onClose();
      return readAnew();
    },
    onError: (error) => (error instanceof PresetChanged ? readAnew() : undefined),
  });
}
