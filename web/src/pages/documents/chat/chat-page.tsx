import { Button, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { ErrorNotice } from '../../../shared/error-notice';
import { Page } from '../../../shared/page';
import { PageLoader } from '../../../shell/page-loader';
import { Answer } from './answer';
import { AskForm } from './ask-form';
import { conversation, useConversation } from './conversation';
import { ConversationsDrawer } from './conversations-drawer';
import { KeepFault } from './keep-fault';
import { Question } from './question';
import { ScopeSelect } from './scope-select';
import { SourceDrawer } from './source-drawer';
import type { KeptSource } from './sources';
import { useConversationAddress } from './use-conversation-address';
import classes from './chat.module.css';

function ChatPage() {
  const { ask: t } = useMessages();
  const { id, title, messages, loading, fault } = useConversation();
  const { error, forget, open } = useConversationAddress();
  const [opened, setOpened] = useState<KeptSource | null>(null);
  const [listed, list] = useDisclosure(false);
  const end = useRef<HTMLDivElement>(null);
  const count = messages.length;
  useEffect(() => {
    if (count > 0) end.current?.scrollIntoView({ block: 'end' });
  }, [count]);
  const busy = loading || messages.at(-1)?.state === 'streaming';
  return (
    <Page
      title={t.chat}
      hint={title || t.chatHint}
      actions={
        <>
          <ScopeSelect />
          <Button variant="default" onClick={list.open} style={{ alignSelf: 'end' }}>
            {t.conversations}
          </Button>
          <Button
            variant="default"
            disabled={count === 0 && error === null && !loading}
            onClick={forget}
            style={{ alignSelf: 'end' }}
          >
            {t.newChat}
          </Button>
        </>
      }
    >
      {error !== null && <ErrorNotice error={error} />}
      <div className={classes['page']}>
        <div className={classes['log']}>
          {loading ? (
            <PageLoader />
          ) : count === 0 ? (
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
        {fault !== null && <KeepFault fault={fault} onShowOther={() => id !== null && open(id)} />}
        <AskForm busy={busy} />
      </div>
      <SourceDrawer opened={opened} onClose={() => setOpened(null)} />
      <ConversationsDrawer
        opened={listed}
        onClose={list.close}
        onGone={(gone) => {
          if (gone === id) forget();
        }}
      />
    </Page>
  );
}

export default ChatPage;
