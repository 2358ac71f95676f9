import { Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { QueryView } from '../../../shared/query-view';
import { metricsQuery } from './queries';

const REQUESTS = 'openrag_http_request_duration_seconds';

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fw={700} fz={22}>
        {value}
      </Text>
    </Paper>
  );
}

/** What the gateway that answered has counted since its start, and what waits now. */
export function Metrics() {
  const { operations: t, documents } = useMessages();
  const format = useFormat();
  const metrics = useQuery(metricsQuery);
  return (
    <section aria-label={t.metrics}>
      <Title order={2} size="h4">
        {t.metrics}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.metricsHint}
      </Text>
      <QueryView query={metrics}>
        {(sums) => {
          const of = (name: string): number => sums.get(name) ?? 0;
          const requests = of(`${REQUESTS}_count`);
          const figures: readonly (readonly [string, string])[] = [
            [t.requests, format.number(requests)],
            [t.requestTime, format.seconds((1000 * of(`${REQUESTS}_sum`)) / Math.max(1, requests))],
            [t.requestsFailed, format.number(of('openrag_http_request_failures_total'))],
            [documents.tasks, format.number(of('openrag_ingest_tasks'))],
            [t.engineErrors, format.number(of('tamis_engine_errors_total'))],
            [t.orphans, format.number(of('openrag_retrieval_orphan_chunks_dropped_total'))],
            [t.signalsWaiting, format.number(of('tamis_signals_waiting'))],
            [t.memory, format.size(of('process_resident_memory_bytes'))],
          ];
          return (
            <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }}>
              {figures.map(([label, value]) => (
                <Figure key={label} label={label} value={value} />
              ))}
            </SimpleGrid>
          );
        }}
      </QueryView>
    </section>
  );
}
