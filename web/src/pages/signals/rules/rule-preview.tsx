import { Alert, Anchor, Button, Group, NumberInput, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ScrollTable } from '../../../shared/scroll-table';
import { ErrorNotice } from '../../../shared/error-notice';
import { to } from '../../../shared/routes';
import { Time } from '../../../shared/time';

interface Trial {
  filter: unknown;
  limit: number;
  /** Null: the signals of all. */
  watchers: string[] | null;
}

function preview({ watchers, ...trial }: Trial) {
  const body = { ...trial, ...(watchers !== null && { watchers }) };
  return bodyOf(api.POST('/api/filters/preview', { body }));
}

type Result = Awaited<ReturnType<typeof preview>>;

function PreviewResult({ result }: { result: Result }) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const { matched, scanned, newlyMatched, complete, notes, samples } = result;
  return (
    <Stack gap="xs">
      <Alert color={matched > 0 ? 'blue' : 'gray'} variant="outline" role="status">
        {t.previewResult(format.number(matched), format.number(scanned))}{' '}
        {matched > 0 && t.previewNew(format.number(newlyMatched))} {!complete && t.previewPart}
        {notes.map((note) => (
          <Text key={note} size="sm">
            {note}
          </Text>
        ))}
      </Alert>
      {samples.length > 0 && (
        <ScrollTable label={t.preview} minWidth={640}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.received}</Table.Th>
              <Table.Th>{t.scenario}</Table.Th>
              <Table.Th>{t.source}</Table.Th>
              <Table.Th>{t.reason}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {samples.map(({ id, receivedAt, scenario, sourceValue, reason }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Time at={receivedAt} />
                </Table.Td>
                <Table.Td>
                  <Anchor component={Link} href={to.alert(id)} size="sm">
                    {scenario || t.alert(id)}
                  </Anchor>
                </Table.Td>
                <Table.Td>{sourceValue}</Table.Td>
                <Table.Td>{reason}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
    </Stack>
  );
}

interface Props {
  filter: unknown;
  watchers?: string[] | null;
  /** Why it cannot be tried. */
  disabled?: boolean;
}

/** What a rule would hold back of the stored signals. */
export function RulePreview({ filter, watchers = null, disabled = false }: Props) {
  const { signals: t } = useMessages();
  const [limit, setLimit] = useState(1000);
  const run = useMutation({ meta: { ownErrors: true }, mutationFn: preview });
  const trial: Trial = { filter, limit, watchers };
  // What was found for another rule says nothing about the one that stands here.
  const isOfThis = JSON.stringify(run.variables) === JSON.stringify(trial);
  return (
    <Stack>
      <Group align="end">
        <NumberInput
          label={t.previewLimit}
          value={limit}
          onChange={(value) => setLimit(Math.max(1, Number(value) || 1))}
          onKeyDown={(event) => {
            // Within the form of a rule it would save the rule.
            if (event.key !== 'Enter') return;
            event.preventDefault();
            if (!disabled) run.mutate(trial);
          }}
          min={1}
          w={180}
        />
        <Button
          variant="default"
          onClick={() => run.mutate(trial)}
          disabled={disabled}
          loading={run.isPending}
        >
          {t.runPreview}
        </Button>
      </Group>
      {isOfThis && run.isError && <ErrorNotice error={run.error} />}
      {isOfThis && run.data !== undefined && <PreviewResult result={run.data} />}
    </Stack>
  );
}
