import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from './config-error.js';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The variables of the environment and of `.env` in a folder, the environment first. An empty value counts as unset in
 * both: `AUTH_TOKEN=` in a copied example file means "not chosen", not "an empty secret". `TAMIS_ENV_FILE` names
 * another file: tests name an empty one, so that a developer's own settings don't decide what they find.
 * @throws ConfigError when there is a file that cannot be read
 */
export function readEnvironment(env: Variables, folder = process.cwd()): Record<string, string> {
  const named = env['TAMIS_ENV_FILE'] || undefined;
  const file = readFile(named ?? join(folder, '.env'), named !== undefined);
  return { ...withoutEmpty(file), ...withoutEmpty(env) };
}

function readFile(path: string, mustExist: boolean): Variables {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!mustExist && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function withoutEmpty(variables: Variables): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined && value !== '') given[name] = value;
  return given;
}
