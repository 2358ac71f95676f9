import type { Gateway } from './start-gateway.js';

interface SessionAnswer {
  user: { id: number; name: string; is_admin: boolean } | null;
  management: boolean;
  csrf_token: string;
  expires_at: string;
}

export interface SignedIn {
  body: SessionAnswer;
  /** As a browser sends it. */
  cookie: string;
  /** What a page of ours sends with a writing request. */
  headers: { Cookie: string; 'X-CSRF-Token': string };
}

/** One attempt to sign in, whatever comes of it. */
export function trySignIn(
  { url }: Pick<Gateway, 'url'>,
  token: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/app/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ token }),
  });
}

/** @param headers of a session that the token is added to, or of the browser */
export async function signIn(
  gateway: Pick<Gateway, 'url'>,
  token: string,
  headers: Record<string, string> = {},
): Promise<SignedIn> {
  const response = await trySignIn(gateway, token, headers);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const body = (await response.json()) as SessionAnswer;
  const cookie = /^tamis_session=[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? '';
  return { body, cookie, headers: { Cookie: cookie, 'X-CSRF-Token': body.csrf_token } };
}
