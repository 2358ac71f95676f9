import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from './config-error.js';
import { SECRET_VARIABLES } from './environment.js';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The variables of the environment and of `.env` in a folder, the environment first. An empty value counts as unset in
 * both: `AUTH_TOKEN=` in a copied example file means "not chosen", not "an empty secret". `TAMIS_ENV_FILE` names
 * another file: tests name an empty one, so that a developer's own settings don't decide what they find. Where a
 * secret's `NAME_FILE` is set, the secret is what stands in that file, without the line breaks at its end;
 * a secret of the environment goes before one that `.env` names, either way.
 * @throws ConfigError when there is a file that cannot be read, or a secret is given twice
 */
export function readEnvironment(env: Variables, folder = process.cwd()): Record<string, string> {
  const named = env['TAMIS_ENV_FILE'] || undefined;
  const file = readFile(named ?? join(folder, '.env'), named !== undefined);
  return { ...withSecretFiles(withoutEmpty(file)), ...withSecretFiles(withoutEmpty(env)) };
}

function withSecretFiles(given: Readonly<Record<string, string>>): Record<string, string> {
  const files = new Map(SECRET_VARIABLES.map((name) => [`${name}_FILE`, name]));
  const read: Record<string, string> = {};
  for (const [variable, value] of Object.entries(given)) {
    const secret = files.get(variable);
    if (secret === undefined) read[variable] = value;
    else if (given[secret] !== undefined) throw new ConfigError(`${secret} and ${variable} are both set.`);
    else read[secret] = readSecret(variable, value);
  }
  return read;
}

function readSecret(variable: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be read: ${(error as Error).message}`);
  }
  const secret = text.replace(/(?<![\r\n])[\r\n]+$/, '');
  if (secret === '') throw new ConfigError(`${variable}: ${path} is empty.`);
  return secret;
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
