import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
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
export function useConversationAddress(): {
  error: unknown;
  /** Begins another one. */
  forget: () => void;
  /** Reads one anew from the server. */
  open: (id: string) => void;
} {
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

  const open = useCallback((wanted: string) => {
    setError(null);
    conversation.open(wanted).catch(setError);
  }, []);

  useEffect(() => {
    setError(null);
    if (named !== undefined && named !== conversation.current().id) open(named);
  }, [named, open]);

  useEffect(() => {
    // As of now: the one that was rendered may have made way for the one of the address meanwhile.
    const { id: shown } = conversation.current();
    if (shown !== null && shown !== named && partition === null)
      navigate(to.conversation(shown), { replace: true });
  }, [id, named, partition, navigate]);

  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: CONVERSATIONS });
  }, [id, revision, queryClient]);

  return {
    error,
    open,
    forget: () => {
      setError(null);
      conversation.begin();
      navigate(to.chat);
    },
  };
}
