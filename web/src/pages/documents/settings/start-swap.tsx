import { Autocomplete, Button, NumberInput, Select, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { setsQuery } from '../../evaluation/queries';
import { endpointsQuery } from '../../operations/models/queries';
import { swapQuery } from './queries';

/** Another embedder, and what it has to reach before the partition goes over. */
export function StartSwap({ partition, embedder }: { partition: string; embedder: string }) {
  const { documents: t, evaluation } = useMessages();
  const queryClient = useQueryClient();
  const isAdmin = useSession().data?.user?.is_admin === true;
  const endpoints = useQuery({ ...endpointsQuery, enabled: isAdmin });
  const [opened, { open, close }] = useDisclosure(false);
  const [target, setTarget] = useState('');
  const [overlap, setOverlap] = useState<number | string>('');
  const [set, setSet] = useState<string | null>(null);
  const [ndcg, setNdcg] = useState<number | string>('');
  const sets = useQuery({ ...setsQuery(partition), enabled: opened });
  const start = useMutation({
    meta: { ownErrors: true },
    mutationFn: () =>
      api.POST('/partition/{partition}/embedder-swap', {
        params: { path: { partition } },
        body: {
          embedder: target.trim(),
          min_overlap: typeof overlap === 'number' ? overlap : null,
          question_set: set,
          min_ndcg: set !== null && typeof ndcg === 'number' ? ndcg : null,
        },
      }),
    onSuccess: () => {
      close();
      return queryClient.invalidateQueries({ queryKey: swapQuery(partition).queryKey });
    },
  });
  const names = endpoints.data?.filter(({ model_type: type }) => type === 'embedder') ?? [];
  return (
    <>
      <Button variant="default" onClick={open} style={{ alignSelf: 'start' }}>
        {t.startSwap}
      </Button>
      <FormModal
        title={t.startSwap}
        opened={opened}
        onClose={close}
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
        submit={t.startSwap}
        pending={start.isPending}
        error={start.error}
        disabled={target.trim() === ''}
      >
        <Text size="sm">{t.swapHint}</Text>
        <Autocomplete
          label={t.embedder}
          data={names.map(({ name }) => name).filter((name) => name !== embedder)}
          value={target}
          onChange={setTarget}
          required
          data-autofocus
        />
        <NumberInput
          label={t.swapMinOverlap}
          description={t.swapGateHint}
          min={0}
          max={1}
          step={0.05}
          value={overlap}
          onChange={setOverlap}
        />
        {sets.data !== undefined && sets.data.length > 0 && (
          <>
            <Select
              label={evaluation.set}
              data={sets.data.map(({ name }) => name)}
              value={set}
              onChange={setSet}
              clearable
            />
            <NumberInput
              label={t.swapMinNdcg}
              min={0}
              max={1}
              step={0.05}
              value={ndcg}
              onChange={setNdcg}
              disabled={set === null}
            />
          </>
        )}
      </FormModal>
    </>
  );
}
