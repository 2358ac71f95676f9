import { Button, NumberInput, Select, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { setsQuery } from '../../evaluation/queries';
import { embeddersQuery, swapQuery } from './queries';

/** Another embedder, and what it has to reach before the partition goes over. */
export function StartSwap({ partition, embedder }: { partition: string; embedder: string }) {
  const { documents: t, evaluation } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const [target, setTarget] = useState<string | null>(null);
  const [overlap, setOverlap] = useState<number | string>('');
  const [set, setSet] = useState<string | null>(null);
  const [ndcg, setNdcg] = useState<number | string>('');
  const embedders = useQuery({ ...embeddersQuery(partition), enabled: opened });
  const sets = useQuery({ ...setsQuery(partition), enabled: opened });
  const start = useMutation({
    meta: { ownErrors: true },
    mutationFn: (wanted: string) =>
      api.POST('/partition/{partition}/embedder-swap', {
        params: { path: { partition } },
        body: {
          embedder: wanted,
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
  const names = embedders.data?.map(({ name }) => name).filter((name) => name !== embedder);
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
          if (target !== null) start.mutate(target);
        }}
        submit={t.startSwap}
        pending={start.isPending}
        error={start.error ?? embedders.error}
        disabled={target === null}
      >
        <Text size="sm">{t.swapHint}</Text>
        <Select
          label={t.embedder}
          description={names?.length === 0 ? t.noOtherEmbedder : undefined}
          data={names ?? []}
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
