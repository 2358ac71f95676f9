import type { Config } from '../../schemas/config/config.js';

const REDACTED = '********';

/** By the name of a setting; numbers such as counts of tokens are none. */
const SECRET_NAME = /token|secret|password|passwd|credential|apikey|api_key|key$/i;

function withoutCredentials(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${REDACTED}@`);
}

function redact(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => redact(name, member));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redact(key, inner)]));
  if (typeof value !== 'string') return value;
  return SECRET_NAME.test(name) ? REDACTED : withoutCredentials(value);
}

/** All settings, for an administrator's eyes: secrets and the credentials inside addresses are blanked out. */
export function redactConfig(config: Config): Record<string, unknown> {
  return redact('', config) as Record<string, unknown>;
}
