import { z } from 'zod';

/** Longer than any token or key that we make or take. */
const MAX_TOKEN = 4096;

/** Request and answer of a session of the console. */
export const SignIn = z
  .object({
    token: z
      .string()
      .trim()
      .min(1)
      .max(MAX_TOKEN)
      .meta({ description: 'A user token, or a key of the management side' }),
  })
  .meta({ id: 'SignIn' });

export const SessionBody = z
  .object({
    user: z
      .object({ id: z.int(), name: z.string(), is_admin: z.boolean() })
      .nullable()
      .meta({ description: 'Whom the documents are asked as; null: signed in without a user token' }),
    management: z.boolean().meta({ description: 'Signed in with a key of the management side' }),
    provider: z.boolean().meta({
      description:
        'Signed in by the identity provider: after signing out, `/auth/logout` ends the session there',
    }),
    csrf_token: z.string().meta({
      description: 'For the header `X-CSRF-Token` of each request that is not GET, HEAD or OPTIONS',
    }),
    expires_at: z.string().meta({ description: 'ISO 8601 in UTC; it moves on with use' }),
  })
  .meta({ id: 'Session' });

export const SignInMethods = z
  .object({ oidc: z.boolean().meta({ description: '`/auth/login` leads to an identity provider' }) })
  .meta({ id: 'SignInMethods' });
