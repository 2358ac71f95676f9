import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { WhoisFacts } from '../../ports/ip-info.js';
import { createGuardedDispatcher, isBlocked } from '../../outbound/address-guard.js';
import { readWhole } from '../../outbound/read-body.js';
import { readRdapAnswer } from './rdap-answer.js';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
const MAX_HOPS = 4;

export interface RdapClientOptions {
  /** A service that answers, or refers to the registry that does (RFC 7484). */
  baseUrl: string;
  userAgent: string;
  timeoutMs?: number;
}

/**
 * Asks who holds a network (RFC 9082, `ip/…`). Referrals are followed, but never into our own network: they come
 * from outside. The configured service itself may be anywhere.
 */
export function createRdapClient({ baseUrl, userAgent, timeoutMs = TIMEOUT_MS }: RdapClientOptions) {
  const base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  const own = new Agent({ connect: { timeout: timeoutMs } });
  const guarded = createGuardedDispatcher({ allowPrivate: false, connectTimeoutMs: timeoutMs });
  const notFollowed = (url: URL) => new Error(`a referral to ${url.origin} is not followed`);

  const dispatcherOf = (url: URL): Dispatcher => {
    if (url.origin === base.origin) return own;
    if (!/^https?:$/.test(url.protocol)) throw notFollowed(url);
    return guarded;
  };

  return {
    /** Null when nothing is known of the network. @throws Error for any other outcome */
    async lookup(network: string): Promise<WhoisFacts | null> {
      const signal = AbortSignal.timeout(timeoutMs);
      let url = new URL(`ip/${network}`, base);
      for (let hop = 0; hop < MAX_HOPS; hop += 1) {
        const { statusCode, headers, body } = await request(url, {
          dispatcher: dispatcherOf(url),
          signal,
          headers: { accept: 'application/rdap+json, application/json', 'user-agent': userAgent },
        }).catch((error: unknown) => {
          throw isBlocked(error) ? notFollowed(url) : error;
        });
        const location = [headers['location']].flat()[0];
        if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
          await body.dump();
          url = new URL(location, url);
          continue;
        }
        if (statusCode === 200) {
          const answer = await readWhole(body, MAX_BYTES, () => new Error('the answer is too large'));
          return readRdapAnswer(JSON.parse(answer.toString('utf8')));
        }
        await body.dump();
        if (statusCode === 404) return null;
        throw new Error(`${url.host} answered ${statusCode}`);
      }
      throw new Error('too many referrals');
    },
    async close(): Promise<void> {
      await Promise.all([own.destroy(), guarded.destroy()]);
    },
  };
}
