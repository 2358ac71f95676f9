import { decodeContent } from '../../../activities/signals/reading/content-encoding.js';
import { isObject } from '../../../schemas/is-object.js';

/** Longer texts are no tokens and no logins; nothing is decoded from them. */
const TOKEN_CHARACTERS = 16 * 1024;
const LOGIN_BYTES = 1024 * 1024;
/** CAPI's own ids are 48 letters and digits; they end up in workflow ids and on pages. */
const WATCHER_PATTERN = /^[A-Za-z0-9._:@-]{1,128}$/;
const CLAIMS = ['id', 'machine_id', 'sub'] as const;
const MAX_EXPIRY = Date.UTC(2100, 0);

/** The token of an `Authorization: Bearer` header. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/**
 * Whom a token names, by its claims, which are **not** verified: only CAPI can. Good enough to sort signals into
 * queues, each of which is sent with its own token; never good enough to grant anything.
 * Null when it does not tell (opaque tokens of old).
 */
export function watcherOf(token: string): string | null {
  const claims = claimsOf(token);
  for (const name of CLAIMS) {
    const value = claims?.[name];
    if (typeof value === 'string' && WATCHER_PATTERN.test(value)) return value;
  }
  return null;
}

/** When a token ends, by its unverified `exp` (seconds since 1970). */
export function tokenExpiry(token: string): Date | null {
  const seconds = claimsOf(token)?.['exp'];
  return typeof seconds === 'number' ? dateOf(seconds * 1000) : null;
}

/** A token's own word on its end is not verified; CAPI's tokens last for hours. */
const TOKEN_LIFETIME_MS = 24 * 3_600_000;

export function capExpiry(expiresAt: Date | null, now: Date): Date | null {
  return expiresAt === null
    ? null
    : new Date(Math.min(expiresAt.getTime(), now.getTime() + TOKEN_LIFETIME_MS));
}

export interface Login {
  watcher: string;
  token: string;
  expiresAt: Date | null;
}

/** What a LAPI logs in with. */
export interface Credentials {
  machineId: string;
  password: string;
  scenarios: readonly string[];
}

/** The login in a body, `{machine_id, password, scenarios[]}` (wire contract, 6.2); null when it is none. */
export async function readCredentials(request: PassedBody): Promise<Credentials | null> {
  const { machine_id: machineId, password, scenarios } = await objectIn(request);
  if (typeof machineId !== 'string' || !WATCHER_PATTERN.test(machineId)) return null;
  if (typeof password !== 'string' || password === '') return null;
  const named = Array.isArray(scenarios) ? scenarios : [];
  return { machineId, password, scenarios: named.filter((name) => typeof name === 'string') };
}

/** A body as it passed by, with its `content-encoding`. */
export interface PassedBody {
  bytes: Buffer;
  encoding?: string | undefined;
}

/**
 * What a login that CAPI answered with 200 tells: `{machine_id, …}` in, `{code, expire, token}` out (wire contract,
 * 6.2). The token's own claim wins over `machine_id`, because signals will come with the token alone.
 */
export async function readLogin(request: PassedBody, response: PassedBody): Promise<Login | null> {
  const { token, expire } = await objectIn(response);
  if (typeof token !== 'string' || token === '' || token.length > TOKEN_CHARACTERS) return null;
  if (!/^[\x21-\x7e]+$/.test(token)) return null;
  const { machine_id: machineId } = await objectIn(request);
  const named = typeof machineId === 'string' && WATCHER_PATTERN.test(machineId) ? machineId : null;
  const watcher = watcherOf(token) ?? named;
  if (watcher === null) return null;
  const expiresAt = typeof expire === 'string' ? dateOf(Date.parse(expire)) : null;
  return { watcher, token, expiresAt: expiresAt ?? tokenExpiry(token) };
}

function claimsOf(token: string): Record<string, unknown> | null {
  const parts = token.split('.');
  if (token.length > TOKEN_CHARACTERS || parts.length !== 3) return null;
  return parseObject(Buffer.from(parts[1]!, 'base64url').toString('utf8'));
}

async function objectIn({ bytes, encoding }: PassedBody): Promise<Record<string, unknown>> {
  try {
    return parseObject((await decodeContent(bytes, encoding, LOGIN_BYTES)).toString('utf8')) ?? {};
  } catch {
    return {};
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function dateOf(ms: number): Date | null {
  return ms > 0 && ms < MAX_EXPIRY ? new Date(ms) : null;
}
