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
  /** A sentence for each pattern of theirs that matches nothing. */
  faults: string[];
  /** A sentence for each key that nothing reads. */
  unread: string[];
}

/** Keys of upstream's file that stand in a variable here. */
const VARIABLES: Readonly<Record<string, string>> = {
  'proxy.listen_port': 'PROXY_PORT',
  'proxy.capi_url': 'CAPI_URL',
  'proxy.timeout_ms': 'PROXY_TIMEOUT_MS',
  'proxy.forward_enabled': 'FORWARD_ENABLED',
  client_validation: 'CLIENT_VALIDATION_ENABLED and the like',
};

/** Parts of which each key is named by itself. */
const PARTS: readonly string[] = ['proxy', 'filters'];
const READ: readonly string[] = ['lapi_servers', 'filters', 'filters.mode', 'filters.rules'];

/** Keys that we do not read are allowed, so that upstream's file can be taken as it is; but they are told of. */
function unreadKeys(content: unknown): string[] {
  const keys = Object.entries(content as Record<string, unknown>).flatMap(([part, value]) =>
    PARTS.includes(part) && typeof value === 'object' && value !== null
      ? Object.keys(value).map((key) => `${part}.${key}`)
      : [part],
  );
  return keys
    .filter((key) => !READ.includes(key))
    .map((key) => {
      const variable = VARIABLES[key];
      return `${key} is not read${variable === undefined ? '' : `: set ${variable}`}`;
    });
}

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
  if (path === null) return { lapiServers: [], mode: 'block', rules: [], faults: [], unread: [] };
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
  const faults: string[] = [];
  const rules = filters.rules.flatMap((source, index) => {
    const rule = compileRule(source, (at, message, weight) => {
      const fault = `filters.rules.${[index, ...at].join('.')}: ${message}`;
      if (weight === 'drop') fail(fault);
      if (weight === 'never') faults.push(fault);
    });
    return rule === null ? [] : [rule];
  });
  return {
    lapiServers: lapi_servers.map(({ name, url, machine_id, password }) => ({
      name,
      url,
      canBan: Boolean(machine_id) && Boolean(password),
    })),
    mode: filters.mode,
    unread: unreadKeys(content),
    rules,
    faults,
  };
}
