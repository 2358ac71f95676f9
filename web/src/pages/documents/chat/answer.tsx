import { Alert, Button, CopyButton, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { useCallback } from 'react';
import { useMessages } from '../../../i18n/language';
import { ErrorNotice } from '../../../shared/error-notice';
import { AnswerText } from './answer-text';
import { conversation } from './conversation';
import type { Message } from './conversation';
import { Thumbs } from './thumbs';
import { VerifiedBadge } from './source-drawer';
import { numberedSources, sourceByNumber, titleOf } from './sources';
import type { NumberedSource } from './sources';
import type { ChatExtra } from './stream-answer';

interface Props {
  message: Message;
  /** What was asked. */
  question: string;
  /** Asks the question of this answer once more. */
  onRetry: () => void;
  onOpen: (source: NumberedSource) => void;
}

function Sources({ extra, onOpen }: { extra: ChatExtra; onOpen: Props['onOpen'] }) {
  const { ask: t } = useMessages();
  const { sources, cited } = numberedSources(extra);
  if (sources.length === 0) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        {cited ? t.cited : t.presented}
      </Text>
      {sources.map((numbered) => (
        <Group key={numbered.number} gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`${t.source(numbered.number)}: ${titleOf(numbered.source)}`}
            onClick={() => onOpen(numbered)}
          >
            {numbered.number} · {titleOf(numbered.source)}
          </Button>
          <VerifiedBadge verified={numbered.source.verified} />
        </Group>
      ))}
    </Stack>
  );
}

export function Answer({ message, question, onRetry, onOpen }: Props) {
  const { ask: t, common } = useMessages();
  const { content, state, extra, error } = message;
  const openNumber = useCallback(
    (number: number) => {
      const source = extra && sourceByNumber(extra, number);
      if (source) onOpen(source);
    },
    [extra, onOpen],
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
          <AnswerText text={content} onSource={openNumber} />
        )}
        {state === 'stopped' && <Text c="dimmed">{t.stopped}</Text>}
        {state === 'failed' && <ErrorNotice error={error} retry={onRetry} />}
        {content === '' && state === 'done' && <Text c="dimmed">{t.emptyAnswer}</Text>}
        {message.cut && <Text c="dimmed">{t.cut}</Text>}
        {extra?.truncated === true && <Text c="dimmed">{t.truncated}</Text>}
        {extra?.degraded !== undefined && extra.degraded.length > 0 && (
          <Alert color="orange" variant="outline">
            {t.degraded(extra.degraded.join(', '))}
          </Alert>
        )}
        {extra !== null && <Sources extra={extra} onOpen={onOpen} />}
        {state === 'streaming' ? (
          <Group>
            <Button size="compact-sm" variant="default" onClick={() => conversation.stop()}>
              {t.stop}
            </Button>
          </Group>
        ) : (
          content !== '' && (
            <Group gap="xs">
              <CopyButton value={content}>
                {({ copied, copy }) => (
                  <Button size="compact-sm" variant="subtle" color="gray" onClick={copy}>
                    {copied ? common.copied : common.copy}
                  </Button>
                )}
              </CopyButton>
              <Thumbs message={message} question={question} />
            </Group>
          )
        )}
      </Stack>
    </Paper>
  );
}
