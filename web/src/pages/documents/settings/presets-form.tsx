import { Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { Facts } from '../../../shared/facts';
import { PresetSelect } from '../../operations/models/preset-select';
import { configQuery } from './queries';

interface Props {
  partition: string;
  indexation: string;
  retrieval: string;
}

/** By which presets the partition is indexed and searched; administrators choose, others read the names. */
export function PresetsForm({ partition, indexation, retrieval }: Props) {
  const { documents: t, operations } = useMessages();
  const queryClient = useQueryClient();
  const isAdmin = useSession().data?.user?.is_admin === true;
  const save = useMutation({
    mutationFn: (body: { indexation_preset: string } | { retrieval_preset: string }) =>
      api.PATCH('/partition/{partition}', { params: { path: { partition } }, body }),
    onSuccess: () => {
      notifications.show({ color: 'green', message: t.saved });
      return queryClient.invalidateQueries({ queryKey: configQuery(partition).queryKey });
    },
  });
  if (!isAdmin)
    return (
      <Facts
        label={operations.presets}
        facts={[
          [t.indexationPreset, indexation],
          [t.retrievalPreset, retrieval],
        ]}
      />
    );
  return (
    <Group gap="sm" align="end">
      <PresetSelect
        type="indexation"
        label={t.indexationPreset}
        value={indexation}
        onChange={(name) => name !== null && save.mutate({ indexation_preset: name })}
      />
      <PresetSelect
        type="retrieval"
        label={t.retrievalPreset}
        value={retrieval}
        onChange={(name) => name !== null && save.mutate({ retrieval_preset: name })}
      />
    </Group>
  );
}
