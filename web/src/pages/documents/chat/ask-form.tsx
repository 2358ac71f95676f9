import { Button, Group, Text, Textarea } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { conversation } from './conversation';
import classes from './chat.module.css';

export function AskForm({ busy }: { busy: boolean }) {
  const { ask: t } = useMessages();
  const [question, setQuestion] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  // With a key that types no letter: speech and single-key users would come here by accident.
  useHotkeys([['mod+K', () => input.current?.focus()]], []);
  const submit = () => {
    if (busy || question.trim() === '') return;
    void conversation.ask(question.trim());
    setQuestion('');
  };
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Group align="end" wrap="nowrap" gap="sm">
        <Textarea
          ref={input}
          aria-keyshortcuts="Control+K Meta+K"
          aria-label={t.question}
          placeholder={t.question}
          autosize
          minRows={1}
          maxRows={8}
          autoFocus
          value={question}
          onChange={(event) => setQuestion(event.currentTarget.value)}
          onKeyDown={(event) => {
            // While an input method composes, Enter ends a word.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            submit();
          }}
          style={{ flex: 1 }}
        />
        <Button type="submit" disabled={busy || question.trim() === ''}>
          {t.send}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={4}>
        {t.questionHint}
      </Text>
    </form>
  );
}
