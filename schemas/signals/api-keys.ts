import { z } from 'zod';

/** What a key of the management side may do; each includes the ones before it. */
export const KEY_SCOPES = ['read', 'write', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether a key with these scopes may do what asks for one. */
export function allows(scopes: readonly KeyScope[], needed: KeyScope): boolean {
  return scopes.some((scope) => KEY_SCOPES.indexOf(scope) >= KEY_SCOPES.indexOf(needed));
}

/** Whom a key was given to, and what for. */
export interface KeyHolder {
  name: string;
  scopes: readonly KeyScope[];
}

/** A named key. The key itself is nowhere; only its digest is stored, and it never leaves the store. */
export interface ApiKeyRecord {
  id: string;
  /** Unique, for people. */
  name: string;
  scopes: KeyScope[];
  createdAt: Date;
  rotatedAt: Date | null;
  /** Exact to a minute. */
  lastUsedAt: Date | null;
  /** Until when the key before the last rotation is taken as well; null: it is not. */
  previousUntil: Date | null;
}

const instant = z.string().meta({ description: 'ISO 8601 in UTC' });

export const ApiKeyBody = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(KEY_SCOPES)),
    createdAt: instant,
    rotatedAt: instant.nullable(),
    lastUsedAt: instant.nullable().meta({ description: 'Exact to a minute' }),
    previousUntil: instant
      .nullable()
      .meta({ description: 'Until then the key before the last rotation is valid' }),
  })
  .meta({ id: 'ApiKey' });
export type ApiKeyBody = z.output<typeof ApiKeyBody>;

export const NewApiKeyBody = ApiKeyBody.extend({
  key: z.string().meta({ description: 'Shown this once; only its digest is kept' }),
}).meta({ id: 'NewApiKey' });

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$/;

export const CreateApiKey = z
  .strictObject({
    name: z.string('must be string').regex(NAME, `must match pattern "${NAME.source}"`),
    scopes: z
      .array(z.enum(KEY_SCOPES, `must be one of ${KEY_SCOPES.join(', ')}`), 'must be array')
      .min(1, 'must NOT have fewer than 1 items')
      .max(KEY_SCOPES.length, `must NOT have more than ${KEY_SCOPES.length} items`),
  })
  .meta({ id: 'CreateApiKey' });

const MAX_GRACE = 7 * 86_400;

export const RotateApiKey = z
  .strictObject({
    graceSeconds: z
      .int('must be integer')
      .min(0, 'must be >= 0')
      .max(MAX_GRACE, `must be <= ${MAX_GRACE}`)
      .meta({ description: 'The present key stays valid so long beside the new one' })
      .default(0),
  })
  .meta({ id: 'RotateApiKey' });

/** Ids are made by us; what cannot be one is not looked up. */
export const ApiKeyParams = z.object({
  id: z.string().regex(/^[0-9a-f-]{36}$/, 'must match format "uuid"'),
});

export const Done = z.object({ success: z.literal(true), message: z.string() }).meta({ id: 'Done' });
