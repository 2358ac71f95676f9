import { Anchor, Button, Drawer, Group, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Empty } from '../../../shared/empty';
import { ErrorNotice } from '../../../shared/error-notice';
import { to } from '../../../shared/routes';
import { Time } from '../../../shared/time';
import { conversation } from './conversation';

const PAGE = 50;
export const CONVERSATIONS = ['conversations'];

async function readPage(offset: number) {
  return bodyOf(api.GET('/users/me/conversations', { params: { query: { limit: PAGE, offset } } }));
}

type Head = Awaited<ReturnType<typeof readPage>>['conversations'][number];

function Row({ head, onOpen, onGone }: { head: Head; onOpen: () => void; onGone: (id: string) => void }) {
  const { ask: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [title, setTitle] = useState<string | null>(null);
  const named = { params: { path: { conversation_id: head.conversation_id } } };
  const onSuccess = () => queryClient.invalidateQueries({ queryKey: CONVERSATIONS });
  const path = '/users/me/conversations/{conversation_id}';
  const rename = useMutation({
    mutationFn: (name: string) => conversation.rename(head.conversation_id, name),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE(path, named),
    onSuccess: () => {
      onGone(head.conversation_id);
      return onSuccess();
    },
  });
  if (title !== null)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate(title.trim());
          setTitle(null);
        }}
      >
        <Group wrap="nowrap" align="end">
          <TextInput
            label={t.conversationTitle}
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
            maxLength={200}
            autoFocus
            style={{ flex: 1 }}
          />
          <Button type="submit" disabled={title.trim() === ''}>
            {common.save}
          </Button>
        </Group>
      </form>
    );
  return (
    <Group justify="space-between" wrap="nowrap" component="article" aria-label={head.title}>
      <div style={{ minWidth: 0 }}>
        <Anchor component={Link} href={to.conversation(head.conversation_id)} onClick={onOpen}>
          {head.title}
        </Anchor>
        <Text size="xs" c="dimmed">
          {head.scope.partition ?? t.allPartitions} · <Time at={head.updated_at} />
        </Text>
      </div>
      <Group gap={4} wrap="nowrap">
        <Button
          size="xs"
          variant="default"
          aria-label={`${t.rename}${common.colon}${head.title}`}
          onClick={() => setTitle(head.title)}
        >
          {t.rename}
        </Button>
        <ConfirmButton
          label={common.delete}
          aria-label={`${common.delete}${common.colon}${head.title}`}
          question={t.deleteConversation(head.title)}
          onConfirm={() => remove.mutate()}
        />
      </Group>
    </Group>
  );
}

interface Props {
  opened: boolean;
  onClose: () => void;
  /** One was deleted. */
  onGone: (id: string) => void;
}

/** The conversations that the server keeps of this person, those of other browsers among them. */
export function ConversationsDrawer({ opened, onClose, onGone }: Props) {
  const { ask: t, common } = useMessages();
  const pages = useInfiniteQuery({
    queryKey: CONVERSATIONS,
    enabled: opened,
    initialPageParam: 0,
    queryFn: ({ pageParam }) => readPage(pageParam),
    getNextPageParam: ({ total }, all) => (all.length * PAGE < total ? all.length * PAGE : undefined),
  });
  const heads = pages.data?.pages.flatMap(({ conversations }) => conversations) ?? [];
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="lg"
      title={t.conversations}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <Stack>
        {pages.isError && <ErrorNotice error={pages.error} retry={() => void pages.refetch()} />}
        {pages.isSuccess && heads.length === 0 && (
          <Empty title={t.noConversations}>{t.noConversationsHint}</Empty>
        )}
        {heads.map((head) => (
          <Row key={head.conversation_id} head={head} onOpen={onClose} onGone={onGone} />
        ))}
        {pages.hasNextPage && (
          <Button
            variant="default"
            loading={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            {t.moreConversations}
          </Button>
        )}
      </Stack>
    </Drawer>
  );
}
