import { Alert, Button, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { useMessages } from '../../../i18n/language';
import { CopyText } from '../../../shared/copy-text';
import { ErrorNotice } from '../../../shared/error-notice';
import { AnswerText } from './answer-text';
import { conversation } from './conversation';
import type { Message } from './message';
import { VerifiedBadge } from './source-drawer';
import { shownSources, titleOf } from './sources';
import type { KeptSource } from './sources';
import { Thumbs } from './thumbs';

interface Props {
  message: Message;
  /** What was asked. */
  question: string;
  /** Asks the question of this answer once more. */
  onRetry: () => void;
  onOpen: (source: KeptSource) => void;
}

function Sources({ sources, onOpen }: { sources: readonly KeptSource[]; onOpen: Props['onOpen'] }) {
  const { ask: t, common } = useMessages();
  const { shown, cited } = shownSources(sources);
  if (shown.length === 0) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        {cited ? t.cited : t.presented}
      </Text>
      {shown.map((source) => (
        <Group key={source.number} gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`${t.source(source.number)}${common.colon}${titleOf(source)}`}
            onClick={() => onOpen(source)}
          >
            {source.number} · {titleOf(source)}
          </Button>
          <VerifiedBadge verified={source.verified} />
        </Group>
      ))}
    </Stack>
  );
}

export function Answer({ message, question, onRetry, onOpen }: Props) {
  const { ask: t, common } = useMessages();
  const { content, state, sources, degraded, searched, truncated, error } = message;
  const known = useMemo(() => new Set(sources.map(({ number }) => number)), [sources]);
  const openNumber = useCallback(
    (number: number) => {
      const source = sources.find((one) => one.number === number);
      if (source) onOpen(source);
    },
    [sources, onOpen],
  );
  return (
    <Paper withBorder p="md" component="article" aria-label={t.assistant} aria-busy={state === 'streaming'}>
      <Stack gap="sm">
        {content === '' && state === 'streaming' ? (
          <Group gap="xs">
            <Loader size="xs" aria-hidden />
            <Text c="dimmed">{t.thinking}</Text>
          </Group>
        ) : (
          <AnswerText text={content} known={known} onSource={openNumber} />
        )}
        {state === 'stopped' && <Text c="dimmed">{t.stopped}</Text>}
        {state === 'failed' && error === null && <Text c="dimmed">{t.failed}</Text>}
        {state === 'failed' && error !== null && <ErrorNotice error={error} retry={onRetry} />}
        {content === '' && state === 'done' && <Text c="dimmed">{t.emptyAnswer}</Text>}
        {message.cut && <Text c="dimmed">{t.cut}</Text>}
        {truncated && <Text c="dimmed">{t.truncated}</Text>}
        {degraded.length > 0 && (
          <Alert color="orange" variant="outline">
            {t.degraded(degraded.join(', '))}
          </Alert>
        )}
        <Sources sources={sources} onOpen={onOpen} />
        {searched.length > 0 && (
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {t.searched}
            {common.colon}
            {searched.join(' · ')}
          </Text>
        )}
        {state === 'streaming' ? (
          <Group>
            <Button size="compact-sm" variant="default" onClick={() => conversation.stop()}>
              {t.stop}
            </Button>
          </Group>
        ) : (
          content !== '' && (
            <Group gap="xs">
              <CopyText text={content} size="compact-sm" variant="subtle" color="gray" />
              <Thumbs message={message} question={question} />
            </Group>
          )
        )}
      </Stack>
    </Paper>
  );
}
