import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError } from './api-error';
import { api, bodyOf, onRefused, send, setCsrfToken } from './client';

export interface Session {
  user: { id: number; name: string; is_admin: boolean } | null;
  /** Whether the management side of the signals may be asked. */
  management: boolean;
  /** Signed in by the identity provider. */
  provider: boolean;
  csrf_token: string;
  expires_at: string;
}

const KEY = ['session'];

/** A new load of the page: what this person saw, asked and uploads is not for the next one. */
function leave(): void {
  window.location.assign(import.meta.env.BASE_URL);
}

/** The last one that this window knew, also after the session ended. */
let lastUser: number | undefined;

function keep(session: Session | null): Session | null {
  setCsrfToken(session?.csrf_token ?? null);
  const user = session?.user?.id;
  if (user !== undefined && lastUser !== undefined && user !== lastUser) leave();
  lastUser = user ?? lastUser;
  return session;
}

async function readSession(): Promise<Session | null> {
  try {
    const response = await send('/app/session');
    return keep((await response.json()) as Session);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return keep(null);
    throw error;
  }
}

/** Who is signed in: null without a session, undefined while it is not known. */
export function useSession() {
  const queryClient = useQueryClient();
  useEffect(() => {
    onRefused(() => void queryClient.invalidateQueries({ queryKey: KEY }, { cancelRefetch: false }));
  }, [queryClient]);
  return useQuery({ queryKey: KEY, queryFn: readSession, staleTime: 60_000, retry: 5 });
}

/** Whether an identity provider is configured. */
export function useSignInMethods() {
  return useQuery({
    queryKey: ['sign-in-methods'],
    queryFn: () => bodyOf(api.GET('/auth/methods')),
    staleTime: Infinity,
  });
}

/** Adds to a session that is there what the token stands for. */
export function useSignIn() {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { ownErrors: true },
    mutationFn: async (token: string): Promise<Session> => {
      const response = await send('/app/session', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      return (await response.json()) as Session;
    },
    onSuccess: (session) => queryClient.setQueryData(KEY, keep(session)),
  });
}

export function useSignOut() {
  return useMutation({
    mutationFn: (_session: Session) => send('/app/session', { method: 'DELETE' }),
    // Else the next one to sign in with this browser would be let in as the same person.
    onSuccess: (_answer, { provider }) => (provider ? window.location.assign('/auth/logout') : leave()),
  });
}
