import { createHash, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Guards the management side: `X-Api-Key` must be the configured key. Digests are compared, in constant time, so that
 * neither the length of the key nor how much of it was guessed shows. Without a key configured nobody is let in.
 * @throws AppError AUTHENTICATION_ERROR (401)
 */
export const createApiKeyCheck = (key: string | null): ((ctx: Koa.Context) => void) => {
  const expected = key === null ? null : digest(key);
  return (ctx) => {
    if (expected === null || !timingSafeEqual(digest(ctx.get('X-Api-Key')), expected))
      throw new AppError('AUTHENTICATION_ERROR', 'Unauthorized');
  };
};
