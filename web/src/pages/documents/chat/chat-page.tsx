import { Button, Stack } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { Answer } from './answer';
import { AskForm } from './ask-form';
import { conversation, useConversation } from './conversation';
import { Question } from './question';
import { ScopeSelect } from './scope-select';
import { SourceDrawer } from './source-drawer';
import type { NumberedSource } from './sources';
import classes from './chat.module.css';

function ChatPage() {
  const { ask: t } = useMessages();
  const messages = useConversation();
  const [opened, setOpened] = useState<NumberedSource | null>(null);
  const end = useRef<HTMLDivElement>(null);
  const count = messages.length;
  useEffect(() => {
    if (count > 0) end.current?.scrollIntoView({ block: 'end' });
  }, [count]);
  const busy = messages.at(-1)?.state === 'streaming';
  return (
    <Page
      title={t.chat}
      hint={t.chatHint}
      actions={
        <>
          <ScopeSelect />
          <Button
            variant="default"
            disabled={count === 0}
            onClick={() => conversation.clear()}
            style={{ alignSelf: 'end' }}
          >
            {t.newChat}
          </Button>
        </>
      }
    >
      <div className={classes['page']}>
        <div className={classes['log']}>
          {count === 0 ? (
            <Empty title={t.chatStart}>{t.chatStartHint}</Empty>
          ) : (
            <Stack role="log" aria-label={t.chat}>
              {messages.map((message, index) => {
                const asked = messages[index - 1];
                return message.role === 'user' ? (
                  <Question key={message.id} message={message} />
                ) : (
                  <Answer
                    key={message.id}
                    message={message}
                    question={asked?.content ?? ''}
                    onRetry={() => asked && void conversation.askAgain(asked.id, asked.content)}
                    onOpen={setOpened}
                  />
                );
              })}
              <div ref={end} />
            </Stack>
          )}
        </div>
        <AskForm busy={busy} />
      </div>
      <SourceDrawer opened={opened} onClose={() => setOpened(null)} />
    </Page>
  );
}

export default ChatPage;
