import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { useErrorText } from '../../../shared/error-text';
import { chooseFiles } from './choose-files';
import { deleteFiles } from './delete-files';

const NONE: ReadonlySet<string> = new Set();

/** Files of a partition that are chosen, and what is done with all of them at once. */
export function useChosenFiles(partition: string) {
  const { documents: t } = useMessages();
  const format = useFormat();
  const errorText = useErrorText();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState(NONE);
  const [last, setLast] = useState<string | null>(null);
  const [gone, setGone] = useState(0);
  const deletion = useMutation({
    mutationFn: (files: readonly string[]) =>
      deleteFiles(partition, files, () => setGone((before) => before + 1)),
    onMutate: () => {
      setGone(0);
      setChosen(NONE);
    },
    onSuccess: async ({ left, error }) => {
      if (left.length > 0)
        notifications.show({
          color: 'red',
          title: t.notDeleted(format.number(left.length)),
          message: errorText(error),
          autoClose: 8000,
        });
      // What is left is shown again once the list has been read.
      await queryClient.invalidateQueries({ queryKey: ['files', partition] });
      void queryClient.invalidateQueries({ queryKey: ['partitions'] });
      setChosen((files) => new Set([...files, ...left]));
    },
  });
  return {
    chosen,
    /** What is being deleted, and how many of it are. */
    deleting: deletion.isPending ? { files: deletion.variables, gone } : null,
    remove: (files: readonly string[]) => deletion.mutate(files),
    choose(list: readonly string[], file: string, { into, range }: { into: boolean; range: boolean }) {
      setChosen(chooseFiles(chosen, list, { file, into, from: range ? last : null }));
      setLast(file);
    },
    set(files: readonly string[]) {
      setChosen(new Set(files));
      setLast(null);
    },
  };
}
