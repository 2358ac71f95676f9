import { Button, Code, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Empty } from '../../../shared/empty';
import { ErrorNotice } from '../../../shared/error-notice';
import { More } from '../../../shared/more';
import { QueryView } from '../../../shared/query-view';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import { ruleVersionsQuery, savedRulesQuery } from '../queries';
import { RuleEditor } from './rule-editor';
import type { Edited } from './rule-editor';
import { useSaveRules } from './use-save-rules';

const NEW_RULE = 'name: my-rule\nfilter:\n  field: source.cn\n  op: in\n  value: [FR]\n';

/** As the text says it: the server has checked that there is one. */
function nameIn(text: string): string {
  try {
    const { name } = JSON.parse(text) as { name?: unknown };
    if (typeof name === 'string') return name;
  } catch {
    // YAML, as most are.
  }
  return (
    /^name:(.+)$/m
      .exec(text)?.[1]
      ?.trim()
      .replace(/^(["'])(.+)\1$/, '$2') ?? ''
  );
}

function Versions({ present }: { present: number }) {
  const { signals: t, common } = useMessages();
  const versions = useQuery(ruleVersionsQuery);
  const { rollBack } = useSaveRules();
  return (
    <QueryView query={versions}>
      {(list) => (
        <ScrollTable label={t.ruleVersions} minWidth={560}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.ruleVersion}</Table.Th>
              <Table.Th>{t.savedWhen}</Table.Th>
              <Table.Th>{t.savedBy}</Table.Th>
              <Table.Th>{t.ruleNote}</Table.Th>
              <Table.Th>{t.rules}</Table.Th>
              <Table.Th aria-label={t.rollBack} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {list.map(({ version, savedAt, savedBy, note, rules }) => (
              <Table.Tr key={version}>
                <Table.Td>{version}</Table.Td>
                <Table.Td>{savedAt !== null && <Time at={savedAt} />}</Table.Td>
                <Table.Td>{savedBy}</Table.Td>
                <Table.Td>{note}</Table.Td>
                <Table.Td>{rules}</Table.Td>
                <Table.Td>
                  {version !== present && (
                    <ConfirmButton
                      label={t.rollBack}
                      aria-label={`${t.rollBack}${common.colon}${version}`}
                      question={t.rollBackQuestion(version)}
                      onConfirm={() => rollBack.mutate({ version: present, to: version })}
                    />
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
    </QueryView>
  );
}

/** The rules that have no file: to be written, changed, taken away, and brought back. */
export function SavedRules() {
  const { signals: t, common } = useMessages();
  const saved = useQuery(savedRulesQuery);
  const [edited, setEdited] = useState<Edited | null>(null);
  const { save } = useSaveRules();
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t.savedRules}
        </Title>
        <Button
          disabled={saved.data === undefined}
          onClick={() => setEdited({ index: null, text: NEW_RULE })}
        >
          {t.newRule}
        </Button>
      </Group>
      <QueryView query={saved}>
        {({ version, rules }) => (
          <Stack>
            {save.error !== null && <ErrorNotice error={save.error} />}
            {rules.length === 0 && <Empty title={t.noSavedRules}>{t.noSavedRulesHint}</Empty>}
            {rules.map(({ text }, index) => (
              <Paper key={text} withBorder p="md" component="article" aria-label={nameIn(text)}>
                <Group justify="space-between">
                  <Text fw={600}>{nameIn(text)}</Text>
                  <Group gap="xs">
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`${t.editRule}${common.colon}${nameIn(text)}`}
                      onClick={() => setEdited({ index, text })}
                    >
                      {t.editRule}
                    </Button>
                    <ConfirmButton
                      label={common.delete}
                      aria-label={`${common.delete}${common.colon}${nameIn(text)}`}
                      question={t.deleteRule(nameIn(text))}
                      onConfirm={() =>
                        save.mutate({
                          version,
                          texts: rules.map((one) => one.text).filter((_, place) => place !== index),
                          note: null,
                        })
                      }
                    />
                  </Group>
                </Group>
                <More label={t.ruleText}>
                  <Code block tabIndex={0}>
                    {text}
                  </Code>
                </More>
              </Paper>
            ))}
            {version > 0 && (
              <More label={t.ruleVersions}>
                <Versions present={version} />
              </More>
            )}
            {edited !== null && (
              <RuleEditor edited={edited} saved={{ version, rules }} onClose={() => setEdited(null)} />
            )}
          </Stack>
        )}
      </QueryView>
    </Stack>
  );
}
