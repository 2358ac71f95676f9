import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { AppError } from '../../schemas/app-error.js';
import type { CallbackClient } from '../ports/tasks.js';
import { createGuardedDispatcher, isBlocked } from './address-guard.js';

const TIMEOUT_MS = 10_000;

/** `t=<seconds since 1970>,v1=<hex HMAC-SHA-256 over "t.body">`: the time keeps an old delivery from being replayed. */
function signature(key: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
}

export function createCallbackClient(options: {
  allowPrivateAddresses: boolean;
  signingKey: string | null;
}): CallbackClient {
  const dispatcher = createGuardedDispatcher({
    allowPrivate: options.allowPrivateAddresses,
    connectTimeoutMs: TIMEOUT_MS,
  });
  return {
    async post({ url, token, body, signal }) {
      const seconds = Math.floor(Date.now() / 1000);
      const key = options.signingKey;
      const limit = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const answer = await request(url, {
          method: 'POST',
          dispatcher,
          body,
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
          headers: {
            'content-type': 'application/json',
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            ...(key === null ? {} : { 'x-tamis-signature': signature(key, body, seconds) }),
          },
        });
        // Whatever it says beside the status is of no interest, and must not keep the connection.
        await answer.body.dump().catch(() => undefined);
        return answer.statusCode;
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        if (isBlocked(error)) throw new AppError('CALLBACK_REFUSED', undefined, { cause: error });
        const reason = error instanceof Error ? error.message : String(error);
        throw new AppError('CALLBACK_FAILED', `No answer: ${reason}`, { cause: error });
      }
    },
    close: () => dispatcher.close(),
  };
}
