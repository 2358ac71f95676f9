import { Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { conversation } from './conversation';
import type { Message } from './message';
import classes from './chat.module.css';

/** What was asked; it may be changed and asked again, and what followed it is dropped then. */
export function Question({ message: { id, content } }: { message: Message }) {
  const { ask: t, common } = useMessages();
  const [draft, setDraft] = useState<string | null>(null);
  if (draft !== null)
    return (
      <Stack gap="xs">
        <Textarea
          aria-label={t.question}
          autosize
          maxRows={10}
          data-autofocus
          autoFocus
          value={draft}
          onChange={(event) => setDraft(event.currentTarget.value)}
        />
        <Group justify="end">
          <Button variant="default" onClick={() => setDraft(null)}>
            {common.cancel}
          </Button>
          <Button
            disabled={draft.trim() === ''}
            onClick={() => {
              setDraft(null);
              void conversation.askAgain(id, draft.trim());
            }}
          >
            {t.send}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <Paper p="md" bg="var(--mantine-color-default-hover)" component="article" aria-label={t.you}>
      <Group justify="space-between" align="start" gap="xs">
        <Text className={classes['question'] ?? ''} style={{ flex: '1 1 240px' }}>
          {content}
        </Text>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          style={{ flexShrink: 0 }}
          onClick={() => setDraft(content)}
        >
          {t.editQuestion}
        </Button>
      </Group>
    </Paper>
  );
}
