import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { to } from '../../../shared/routes';
import { useAddressQuery } from '../../../shared/use-address-query';
import { usePathParams } from '../../../shared/use-path-params';
import { conversation, useConversation } from './conversation';
import { CONVERSATIONS } from './conversations-drawer';

/**
 * The conversation of the address bar is the one of the page, so that it can be opened in another window; one that has
 * just begun gets its address as soon as the server keeps it.
 */
export function useConversationAddress(): { error: unknown; forget: () => void } {
  const { conversation: named } = usePathParams<{ conversation?: string }>();
  const [query] = useAddressQuery();
  const [, navigate] = useLocation();
  const queryClient = useQueryClient();
  const { id, revision } = useConversation();
  const [error, setError] = useState<unknown>(null);
  const [partition, file] = [query.get('partition'), query.get('file')];

  useEffect(() => {
    if (partition === null) return;
    conversation.begin({ partition, workspace: null, file_id: file });
    navigate(to.chat, { replace: true });
  }, [partition, file, navigate]);

  useEffect(() => {
    if (named === undefined || named === conversation.current().id) return;
    setError(null);
    conversation.open(named).catch(setError);
  }, [named]);

  useEffect(() => {
    if (id !== null && named === undefined && partition === null)
      navigate(to.conversation(id), { replace: true });
  }, [id, named, partition, navigate]);

  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: CONVERSATIONS });
  }, [id, revision, queryClient]);

  return {
    error,
    forget: () => {
      setError(null);
      conversation.begin();
      navigate(to.chat);
    },
  };
}
