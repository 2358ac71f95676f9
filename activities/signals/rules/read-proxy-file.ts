import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError } from '../../../schemas/config/config-error.js';
import { compileRule } from './compile-rule.js';
import { RULE_MODES } from './compiled-rule.js';
import type { CompiledRule, RuleMode } from './compiled-rule.js';

/** What the file that CONFIG_PATH names says of the proxy. */
export interface ProxyFile {
  lapiServers: { name: string; url: string; canBan: boolean }[];
  mode: RuleMode;
  /** Rules written in the file itself; they run before those of the folders. */
  rules: CompiledRule[];
}

/** Keys of upstream's file that we do not use yet are allowed and left alone. */
const fileShape = z.object({
  lapi_servers: z
    .array(
      z.object({
        name: z.string().min(1),
        url: z.url(),
        machine_id: z.string().nullish(),
        password: z.string().nullish(),
      }),
    )
    .default([]),
  filters: z
    .object({ mode: z.enum(RULE_MODES).default('block'), rules: z.array(z.unknown()).default([]) })
    .default({ mode: 'block', rules: [] }),
});

/** `${NAME}` and `${NAME:-fallback}`, as upstream expands them in this file (and not in rule files). */
function expanded(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_all, name: string, fallback?: string) => env[name] || (fallback ?? ''),
  );
}

/**
 * Reads the proxy's YAML file; without one, the defaults.
 * @throws ConfigError that names the file and what is wrong in it: unlike a rule file, this one stops the start
 */
export async function readProxyFile(
  path: string | null,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ProxyFile> {
  if (path === null) return { lapiServers: [], mode: 'block', rules: [] };
  const fail = (problem: string): never => {
    throw new ConfigError(`CONFIG_PATH: ${path}: ${problem}`);
  };
  let content: unknown;
  try {
    content = parse(expanded(await readFile(path, 'utf8'), env)) ?? {};
  } catch (error) {
    return fail((error as Error).message);
  }
  const parsed = fileShape.safeParse(content);
  if (!parsed.success) return fail(z.prettifyError(parsed.error));
  const { lapi_servers, filters } = parsed.data;
  return {
    lapiServers: lapi_servers.map(({ name, url, machine_id, password }) => ({
      name,
      url,
      canBan: Boolean(machine_id) && Boolean(password),
    })),
    mode: filters.mode,
    rules: filters.rules.flatMap((source, index) => {
      const rule = compileRule(source, (at, message, weight) => {
        if (weight === 'drop') fail(`filters.rules.${[index, ...at].join('.')}: ${message}`);
      });
      return rule === null ? [] : [rule];
    }),
  };
}
