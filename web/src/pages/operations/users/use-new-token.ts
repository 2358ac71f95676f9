import { useMutation } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useSession, useSignIn } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import type { NewToken } from './queries';

interface Whose {
  id: number;
  name: string;
}

/** A new token for a user, also for the one who is signed in, and what is to be asked before. */
export function useNewToken({ id, name }: Whose, onToken: (token: NewToken) => void) {
  const { operations: t } = useMessages();
  const session = useSession().data;
  const signIn = useSignIn();
  /** The session ends with the token that it was opened with, and this page with the session. */
  const isOwn = session?.user?.id === id && !session.provider;
  const renew = useMutation({
    mutationFn: async () => {
      const params = { path: { id: String(id) } };
      const { token } = await bodyOf(api.POST('/users/{id}/regenerate_token', { params }));
      // The old one is dead by now: the new one has to be shown in any case.
      if (isOwn) await signIn.mutateAsync(token).catch(() => undefined);
      return token;
    },
    onSuccess: (token) => onToken({ name, token }),
  });
  return {
    question: isOwn ? t.ownTokenQuestion(session.management) : t.newTokenQuestion(name),
    renew: () => renew.mutate(),
  };
}
