import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError } from './api-error';
import { api, bodyOf, onRefused, send, SESSION_PATH, setCsrfToken } from './client';
import { endSession } from './end-session';

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

/** Tells the other windows of this browser, which have the same session, that the user signed in or out. */
const windows = new BroadcastChannel('tamis-session');

/** A new load of the page: what this person saw, asked and uploads is not for the next one. */
function leave(): void {
  window.location.assign(import.meta.env.BASE_URL);
}

/** The last one that this window knew, also after the session ended. */
let lastUser: number | undefined;

function keep(session: Session | null): Session | null {
  const user = session?.user?.id;
  if (user !== undefined && lastUser !== undefined && user !== lastUser) {
    // Until it is left, nothing of this page may be done as the other person.
    setCsrfToken(null);
    leave();
    return session;
  }
  setCsrfToken(session?.csrf_token ?? null);
  lastUser = user ?? lastUser;
  return session;
}

async function readSession({ signal }: { signal: AbortSignal }): Promise<Session | null> {
  try {
    const response = await send(SESSION_PATH, { signal });
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
    windows.onmessage = () => void queryClient.invalidateQueries({ queryKey: KEY });
  }, [queryClient]);
  return useQuery({
    queryKey: KEY,
    queryFn: readSession,
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
    retry: 5,
  });
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
      const response = await send(SESSION_PATH, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      return (await response.json()) as Session;
    },
    onSuccess: async (session) => {
      windows.postMessage('in');
      // One that was asked for before would say that no user, or another one, is signed in.
      await queryClient.cancelQueries({ queryKey: KEY });
      queryClient.setQueryData(KEY, keep(session));
    },
  });
}

export function useSignOut() {
  return useMutation({
    mutationFn: (_session: Session) => endSession(),
    onSuccess: (_answer, { provider }) => {
      windows.postMessage('out');
      // Else the next one to sign in with this browser would be let in as the same person.
      if (provider) window.location.assign('/auth/logout');
      else leave();
    },
  });
}
