/** What the values of variables may look like; `environment.ts` says which variable has which. */
import { z } from 'zod';
import { parseRate } from './rate.js';

/** `true` and `false`, and what else means them. */
export function flag(fallback: boolean) {
  return z.stringbool().default(fallback);
}

/** A whole number that is not below `min`. */
export function count(fallback: number, min = 1) {
  return z.coerce.number().int().min(min).default(fallback);
}

/** A list with commas; nothing in it counts as unset. */
export const names = z
  .string()
  .transform((text) => text.split(',').flatMap((name) => name.trim() || []))
  .optional();

/** The path of a file that must be there when it is used. */
export const file = z.string().min(1).optional();

/** `host:port`, with commas between them; an IPv6 address stands in brackets. */
export const hosts = z
  .string()
  .transform(list)
  .pipe(
    z
      .array(
        z
          .string()
          .regex(
            /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/,
            'must be host:port, with commas between them',
          )
          .transform((text) => ({
            host: text.slice(0, text.lastIndexOf(':')).replace(/^\[|\]$/g, ''),
            port: Number(text.slice(text.lastIndexOf(':') + 1)),
          })),
      )
      .min(1),
  );

/** Of an OpenID provider: what it says is believed, so no host in between may speak for it. */
export const issuer = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}, 'must begin with https://, or be on loopback');

/** What stands before the `@` of a URL is decoded by the drivers, which would refuse it with a trace. */
function hasDecodableUser(text: string): boolean {
  const user = /^[a-z+]+:\/\/([^/]*)@/i.exec(text)?.[1] ?? '';
  try {
    decodeURIComponent(user);
    return true;
  } catch {
    return false;
  }
}

/** For `refine`: a URL whose user and password can be read. */
export const DECODABLE = [hasDecodableUser, 'must have %25 for a % in its user or password'] as const;

export function url(protocol: RegExp) {
  return z.url({ protocol }).refine(...DECODABLE);
}

/** The parts of a list with commas. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

/** So many in a span of time: `600/minute`. */
export function rate(fallback: string) {
  return z
    .string()
    .default(fallback)
    .transform((text, context) => {
      const parsed = parseRate(text);
      if (parsed !== null) return parsed;
      context.addIssue('must be a rate such as 600/minute, with second, minute, hour or day');
      return z.NEVER;
    });
}

/** A few words that stand in a prompt: braces would be slots. */
export const promptWords = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^{}\p{C}]*$/u, 'must be one line without braces');

/** A language, with a script or a region where it has one. */
const LANGUAGE_CODE = /^[A-Za-z]{2,3}(-([A-Za-z]{2}|[A-Za-z]{4}|\d{3}))?$/;

/** `fr` as models are told it, French; whatever is no code stays as it is. */
export function languageName(text: string): string {
  return LANGUAGE_CODE.test(text)
    ? (new Intl.DisplayNames('en', { type: 'language' }).of(text) ?? text)
    : text;
}

/** Addresses and networks; `*`: any. */
export const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.literal('*')], {
  error: 'must be addresses, networks (10.0.0.0/8) or *, with commas between them',
});

/** Stored in clear, shown to administrators and logged: a password in it would not be secret. */
export function plainUrl(instead: string) {
  return url(/^https?$/).refine(
    (text) => !/^[^:]+:\/\/[^/?#]*@/.test(text),
    `must not hold a user or password: ${instead}`,
  );
}

export const modelUrl = plainUrl('put the key into the *_API_KEY variable');

/** `name=value,name=value`, the values percent-encoded. */
export function isHeaderList(text: string): boolean {
  return text
    .split(',')
    .every((pair) => /^\s*[A-Za-z0-9!#$&'*.^_`|~-]+=([\x20-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*$/.test(pair));
}

/** A JSON array in a variable. */
function jsonArray<Item extends z.ZodType>(item: Item) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be a JSON array' });
        return z.NEVER;
      }
    })
    .pipe(z.array(item));
}

/** Accounts made at the start; one is known again by its external id or its mail address. */
export const seedUsers = jsonArray(
  z
    .strictObject({
      display_name: z.string().max(255).nullish(),
      external_user_id: z.string().min(1).max(255).nullish(),
      email: z.email().max(255).nullish(),
      is_admin: z.boolean().default(false),
      file_quota: z.int().min(-1).nullish(),
      /** Without one the account has no token until an administrator regenerates it. */
      token: z.string().optional(),
    })
    .refine((user) => user.external_user_id != null || user.email != null, {
      message: 'each user needs an external_user_id or an email',
    }),
);

/** `;`-separated; `*` stands for every origin. */
export const origins = z
  .string()
  .transform((text) => text.split(';').map((part) => part.trim().replace(/\/$/, '')))
  .transform((parts) => parts.filter((part) => part !== ''))
  .pipe(z.array(z.union([z.literal('*'), z.string().regex(/^https?:\/\/[^/?#\s]+$/, 'must be an origin')])));

/** What it means is checked where it is used; a misspelt one must not open or shut the door unseen. */
export const NETWORK = /^(\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?|(?=[^:]*:)[0-9a-fA-F:.]+(\/\d{1,3})?)$/;

/** An AES-256 key. */
export const sealingKey = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64');
