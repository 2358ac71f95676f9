import { createHmac } from 'node:crypto';

/** No secret: the stand-in guards nothing, it only tells its own tokens from others, also after a restart. */
const KEY = 'tamis-stand-in-capi';

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function sign(text: string): string {
  return createHmac('sha256', KEY).update(text).digest('base64url');
}

/** A JWT as CAPI issues it (HS256; claims id, exp, iat). `issuedAt` in milliseconds since 1970. */
export function mintToken(
  watcher: string,
  { issuedAt = Date.now(), lifetimeSeconds = 3600 }: { issuedAt?: number; lifetimeSeconds?: number } = {},
): { token: string; expiresAt: Date } {
  const exp = Math.floor(issuedAt / 1000) + lifetimeSeconds;
  const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ id: watcher, exp, iat: issuedAt / 1000 })}`;
  return { token: `${head}.${sign(head)}`, expiresAt: new Date(exp * 1000) };
}

/** Whose token an Authorization header holds and when it was issued; null when it is not ours or has expired. */
export function readToken(authorization: string | undefined): { watcher: string; issuedAt: number } | null {
  const [head, payload, signature] = (authorization ?? '').replace(/^bearer /i, '').split('.');
  if (head === undefined || payload === undefined) return null;
  if (sign(`${head}.${payload}`) !== signature) return null;
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    id: string;
    exp: number;
    iat: number;
  };
  if (claims.exp * 1000 <= Date.now()) return null;
  return { watcher: claims.id, issuedAt: Math.round(claims.iat * 1000) };
}
