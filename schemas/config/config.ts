/**
 * Configuration comes from the environment and `.env` (`read-environment.ts`), is parsed once before anything opens,
 * and is handed down by value. A bad variable stops the process and is named.
 */
import { ConfigError } from './config-error.js';
import { configOf } from './config-groups.js';
import { modelProblems } from './configured-models.js';
import { environment } from './environment.js';
import { insecureSecrets } from './secret-guard.js';

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };

export type Config = DeepReadonly<ReturnType<typeof configOf>>;

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}

/**
 * Reads the whole configuration from environment variables.
 * @throws ConfigError that names every variable at fault
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // A variable set to nothing counts as unset, as in a compose file's `NAME=${NAME:-}`.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  problems.push(...modelProblems(given));
  if (parsed.success && !parsed.data.SERVICES.includes('documents') && given['SECRETS_KEY'] === undefined)
    problems.push('SERVICES: the proxy needs SECRETS_KEY');
  if (given['SECRETS_KEY_PREVIOUS'] !== undefined && given['SECRETS_KEY'] === undefined)
    problems.push('SECRETS_KEY_PREVIOUS: without SECRETS_KEY nothing could be encrypted anew');
  if (given['ALLOW_INSECURE_SECRETS']?.toLowerCase() !== 'true') problems.push(...insecureSecrets(given));
  if (!parsed.success || problems.length > 0)
    throw new ConfigError(
      `The configuration is not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    );
  return deepFreeze(configOf(parsed.data));
}
