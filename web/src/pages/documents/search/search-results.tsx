import { Accordion, Anchor, Badge, Code, Group, Paper, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { MarkedText } from '../../../shared/marked-text';
import { to, withQuery } from '../../../shared/routes';
import { textOf } from '../queries';
import { findMatches } from './find-matches';

interface Found {
  content: string;
  metadata: Record<string, unknown>;
}

interface Props {
  documents: readonly Found[];
  question: string;
  trace: unknown;
}

function Scores({ metadata }: { metadata: Found['metadata'] }) {
  const { ask: t } = useMessages();
  const format = useFormat();
  const scores = [
    [t.scoreCombined, metadata['combined_score']],
    [t.scoreVector, metadata['vector_score']],
    [t.scoreRerank, metadata['rerank_score']],
  ] as const;
  return scores.map(
    ([label, value]) =>
      typeof value === 'number' && (
        <Badge key={label} variant="default">
          {label} {format.score(value)}
        </Badge>
      ),
  );
}

export function SearchResults({ documents, question, trace }: Props) {
  const { ask: t, documents: texts } = useMessages();
  return (
    <Stack gap="sm">
      {documents.map(({ content, metadata }) => {
        const file = textOf(metadata['file_id']);
        const partition = textOf(metadata['partition']);
        const id = textOf(metadata['_id']);
        return (
          <Paper key={id} withBorder p="md" component="article">
            <Group justify="space-between" gap="xs">
              <Anchor
                component={Link}
                href={withQuery(to.file(partition, file), { extract: id })}
                fw={600}
                title={t.openPassage}
                style={{ overflowWrap: 'anywhere' }}
              >
                {textOf(metadata['original_filename']) || file}
              </Anchor>
              <Group gap="xs">
                <Badge variant="default">{partition}</Badge>
                {typeof metadata['page'] === 'number' && (
                  <Badge variant="default">{texts.page(metadata['page'])}</Badge>
                )}
                <Scores metadata={metadata} />
              </Group>
            </Group>
            <Text
              size="sm"
              mt="xs"
              style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', maxWidth: '90ch' }}
            >
              <MarkedText text={content} ranges={findMatches(content, question)} />
            </Text>
          </Paper>
        );
      })}
      {trace !== undefined && (
        <Accordion variant="contained">
          <Accordion.Item value="trace">
            <Accordion.Control>{t.traceTitle}</Accordion.Control>
            <Accordion.Panel>
              <Code block tabIndex={0} mah={500}>
                {JSON.stringify(trace, null, 2)}
              </Code>
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Stack>
  );
}
