import { Anchor, Button, Group, Table, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ScrollTable } from '../../../shared/scroll-table';
import { ConfirmButton } from '../../../shared/confirm-button';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { Time } from '../../../shared/time';
import { quarantineQuery } from '../queries';

interface Step {
  id: number;
  kind: 'release' | 'discard';
}

function apply({ id, kind }: Step): Promise<unknown> {
  const params = { path: { id } };
  return kind === 'release'
    ? api.POST('/api/quarantine/{id}/release', { params })
    : api.POST('/api/quarantine/{id}/discard', { params });
}

export function Quarantine() {
  const { signals: t, common } = useMessages();
  const queryClient = useQueryClient();
  const quarantine = useInfiniteQuery(quarantineQuery);
  const step = useMutation({
    mutationFn: apply,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['signals'] }),
  });
  return (
    <section aria-label={t.quarantine}>
      <Title order={2} size="h4">
        {t.quarantine}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.quarantineHint}
      </Text>
      <QueryView query={quarantine}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm">{t.quarantineEmpty}</Text>
          ) : (
            <ScrollTable label={t.quarantine} minWidth={760}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t.received}</Table.Th>
                  <Table.Th>{t.scenario}</Table.Th>
                  <Table.Th>{t.reason}</Table.Th>
                  <Table.Th>{common.actions}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map(({ id, receivedAt, scenario, reason, releasable }) => (
                  <Table.Tr key={id}>
                    <Table.Td>
                      <Time at={receivedAt} />
                    </Table.Td>
                    <Table.Td>
                      <Anchor component={Link} href={to.alert(id)} size="sm">
                        {scenario || t.alert(id)}
                      </Anchor>
                    </Table.Td>
                    <Table.Td style={{ overflowWrap: 'anywhere' }}>{reason}</Table.Td>
                    <Table.Td>
                      <Group gap="xs">
                        {releasable && (
                          <Button
                            size="xs"
                            variant="default"
                            disabled={step.isPending}
                            onClick={() => step.mutate({ id, kind: 'release' })}
                          >
                            {t.releaseOne}
                          </Button>
                        )}
                        <ConfirmButton
                          label={t.discardOne}
                          question={t.discardOneQuestion(id)}
                          disabled={step.isPending}
                          onConfirm={() => step.mutate({ id, kind: 'discard' })}
                        />
                      </Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
          )
        }
      </QueryView>
      {quarantine.hasNextPage && (
        <Button
          variant="default"
          mt="xs"
          loading={quarantine.isFetchingNextPage}
          onClick={() => void quarantine.fetchNextPage()}
        >
          {t.quarantineMore}
        </Button>
      )}
    </section>
  );
}
