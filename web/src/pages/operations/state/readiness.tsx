import { Alert, Badge, List, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import type { Ready, Verdict } from './queries';

/** Names under which older dashboards ask for the same three. */
const ALIASES = new Set(['postgres', 'milvus', 'ray']);

/** Not set up is no fault where the part is optional. */
const OPTIONAL = new Set(['reranker', 'vlm', 'stt']);

function colourOf(part: string, verdict: Verdict): string {
  if (verdict === 'ok') return 'green';
  if (verdict === 'unresolvable' && OPTIONAL.has(part)) return 'gray';
  return verdict === 'pending' || verdict === 'timeout' ? 'orange' : 'red';
}

export function Readiness({ ready }: { ready: Ready }) {
  const { operations: t, server } = useMessages();
  const { status, checks, configuration_references: references } = ready;
  const parts = Object.entries(checks).filter(([part]) => !ALIASES.has(part));
  return (
    <Stack>
      <Alert color={status === 'ready' ? 'green' : 'red'} variant="outline" role="status">
        {status === 'ready' ? t.ready : t.notReady}
      </Alert>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 4 }}>
        {parts.map(([part, verdict]) => {
          const [name, what] = t.parts[part] ?? [part, ''];
          return (
            <Paper key={part} withBorder p="md">
              <Text fw={600}>{name}</Text>
              <Text size="sm" c="dimmed">
                {what}
              </Text>
              <Badge variant="dot" color={colourOf(part, verdict)} mt="xs">
                {t.verdicts[verdict]}
              </Badge>
            </Paper>
          );
        })}
      </SimpleGrid>
      {references.length > 0 && (
        <Alert color="orange" variant="outline" title={t.references}>
          <List size="sm">
            {references.map(({ kind, count, status: what }) => (
              <List.Item key={kind}>{t.reference(server.references[kind] ?? kind, count, what)}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
