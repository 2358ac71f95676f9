import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * The variables of the environment and of `.env` in the clone, the environment first. An empty value counts as
 * unset: `AUTH_TOKEN=` in a copied example file means "not chosen", not "an empty secret".
 */
export function readSettings(root: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const source of [dotEnv(root), env]) {
    for (const [name, value] of Object.entries(source)) if (value) settings[name] = value;
  }
  return settings;
}

function dotEnv(root: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(join(root, '.env'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
