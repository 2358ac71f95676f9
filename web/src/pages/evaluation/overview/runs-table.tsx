import { Anchor, Badge, Button, Checkbox, Group, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { to } from '../../../shared/routes';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import { RUN_COLOURS } from '../queries';
import type { Run } from '../queries';

interface Props {
  partition: string;
  runs: readonly Run[];
}

function Steering({ partition, run }: { partition: string; run: Run }) {
  const { evaluation: t, common } = useMessages();
  const queryClient = useQueryClient();
  const params = { path: { partition, run_id: run.run_id } };
  const end = useMutation({
    mutationFn: async () => {
      if (run.status === 'running')
        await api.POST('/evaluation/partition/{partition}/runs/{run_id}/cancel', { params });
      else await api.DELETE('/evaluation/partition/{partition}/runs/{run_id}', { params });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['evaluation', partition, 'runs'] }),
  });
  return run.status === 'running' ? (
    <Button size="xs" variant="default" onClick={() => end.mutate()}>
      {common.cancel}
    </Button>
  ) : (
    <ConfirmButton label={common.delete} question={t.deleteRunQuestion} onConfirm={() => end.mutate()} />
  );
}

/** Two completed ones can be chosen and laid beside each other, the older as what was before. */
export function RunsTable({ partition, runs }: Props) {
  const { evaluation: t, common } = useMessages();
  const format = useFormat();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const pair = runs.filter(({ run_id: id }) => chosen.includes(id));
  const [after, before] = pair;
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2));
  return (
    <Stack gap="xs">
      <ScrollTable label={t.runs} minWidth={860}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.choose}</Table.Th>
            <Table.Th>{t.run}</Table.Th>
            <Table.Th>{t.set}</Table.Th>
            <Table.Th>{t.status}</Table.Th>
            <Table.Th>{t.measures.ndcg_10}</Table.Th>
            <Table.Th>{t.started}</Table.Th>
            <Table.Th>{common.actions}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => {
            const name = run.label ?? run.run_id.slice(0, 8);
            const figure = run.summary?.measures.ndcg_10;
            return (
              <Table.Tr key={run.run_id}>
                <Table.Td>
                  <Checkbox
                    aria-label={t.chooseRun(name)}
                    checked={chosen.includes(run.run_id)}
                    disabled={run.status !== 'completed'}
                    onChange={() => toggle(run.run_id)}
                  />
                </Table.Td>
                <Table.Td>
                  <Anchor component={Link} href={to.evaluationRun(partition, run.run_id)} size="sm">
                    {name}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  {run.set} · {t.version(run.version)}
                </Table.Td>
                <Table.Td>
                  <Badge variant="dot" color={RUN_COLOURS[run.status]}>
                    {t.statuses[run.status]}
                  </Badge>{' '}
                  <Text span size="sm" c="dimmed">
                    {format.number(run.questions_done)} / {format.number(run.questions_total)}
                  </Text>
                </Table.Td>
                <Table.Td>{figure !== undefined && format.score(figure.mean)}</Table.Td>
                <Table.Td>
                  <Time at={run.started_at} />
                </Table.Td>
                <Table.Td>
                  <Steering partition={partition} run={run} />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </ScrollTable>
      <Group gap="sm">
        {before === undefined || after === undefined ? (
          <Button variant="default" disabled>
            {t.compare}
          </Button>
        ) : (
          <Button
            component={Link}
            href={to.evaluationComparison(partition, before.run_id, after.run_id)}
            variant="default"
          >
            {t.compare}
          </Button>
        )}
        <Text size="sm" c="dimmed">
          {t.compareHint}
        </Text>
      </Group>
    </Stack>
  );
}
