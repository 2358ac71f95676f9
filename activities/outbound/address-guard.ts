import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import { isPublicAddress } from './is-public-address.js';

/**
 * Keeps requests to addresses that a client named away from our own network: loopback, private, link-local and every
 * other range that is not plain unicast. A literal address never reaches the resolver and a name says nothing before it
 * is resolved, so both are looked at, the second at the moment of connecting.
 */
const BLOCKED = 'ERR_ADDRESS_BLOCKED';

function blocked(host: string): Error {
  return Object.assign(new Error(`address not allowed: ${host}`), { code: BLOCKED });
}

export function isBlocked(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ((cause as NodeJS.ErrnoException).code === BLOCKED) return true;
  return false;
}

/** Host of a URL without the brackets of IPv6. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** What can be said of a URL without resolving it: its host is no literal of a range that is not public. */
export function isPublicUrl(url: URL): boolean {
  const host = hostOf(url);
  if (isIP(host) !== 0) return isPublicAddress(host);
  return !/(^|\.)(localhost|local|internal)\.?$/i.test(host);
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** How a name becomes addresses: the system's way unless given. */
export type ResolveName = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

function guardedLookup(resolve: ResolveName) {
  return (host: string, options: LookupOptions, done: LookupCallback): void => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      // A name that is not there is told like one that may not be asked: else our own could be found by guessing.
      if (error !== null) return done(error.code === 'ENOTFOUND' ? blocked(host) : error, []);
      // One bad address is enough: which of them is connected to is not ours to choose.
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
        return done(blocked(host), []);
      if (options.all === true) return done(null, addresses);
      return done(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

/** A dispatcher for addresses that clients name. It follows no redirect by itself. */
export function createGuardedDispatcher(options: {
  allowPrivate: boolean;
  connectTimeoutMs: number;
  resolve?: ResolveName;
}): Dispatcher {
  const timeout = options.connectTimeoutMs;
  if (options.allowPrivate) return new Agent({ connect: { timeout } });
  return new Agent({
    connect: { lookup: guardedLookup(options.resolve ?? lookup), timeout },
  }).compose((dispatch) => (request, handler) => {
    const url = new URL(String(request.origin));
    if (!isPublicUrl(url)) throw blocked(url.hostname);
    return dispatch(request, handler);
  });
}
