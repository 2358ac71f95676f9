/**
 * Configuration comes from the environment and `.env` (`read-environment.ts`), is parsed once before anything opens,
 * and is handed down by value. A bad variable stops the process and is named.
 */
import { ConfigError } from './config-error.js';
import { configOf } from './config-groups.js';
import { modelProblems } from './configured-models.js';
import { environment } from './environment.js';
import type { Environment } from './environment.js';
import { insecureSecrets } from './secret-guard.js';

const { ALLOW_INSECURE_SECRETS } = environment.shape;

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
  if (parsed.success && parsed.data.TEMPORAL_ENCRYPT_PAYLOADS && given['SECRETS_KEY'] === undefined)
    problems.push('TEMPORAL_ENCRYPT_PAYLOADS: there is no SECRETS_KEY to encrypt with');
  if (parsed.success) problems.push(...idleWorker(parsed.data), ...repeatedTokens(parsed.data));
  problems.push(...missingForOidc(given));
  problems.push(...halfGiven(given));
  // Read by itself: what is said of secrets does not depend on whether everything else is in order.
  if (ALLOW_INSECURE_SECRETS.safeParse(given['ALLOW_INSECURE_SECRETS']).data !== true)
    problems.push(...insecureSecrets(given));
  if (!parsed.success || problems.length > 0)
    throw new ConfigError(
      `The configuration is not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    );
  return deepFreeze(configOf(parsed.data));
}

/**
 * A worker that would serve nothing is a mistake in one of three variables. Backups of either side are made by the
 * queue of migrations; without SECRETS_KEY the proxy is off.
 */
function idleWorker(env: Pick<Environment, 'WORKER_TASK_QUEUES' | 'SERVICES' | 'SECRETS_KEY'>): string[] {
  const { WORKER_TASK_QUEUES: queues, SERVICES: services, SECRETS_KEY: key } = env;
  const documents = services.includes('documents');
  const proxy = services.includes('proxy') && key !== undefined;
  const hasWork = { documents, models: documents, migrations: documents || proxy, alerts: proxy };
  if (queues.some((queue) => hasWork[queue])) return [];
  const keyless = services.includes('proxy') && !proxy ? ' and SECRETS_KEY is not set' : '';
  return [
    `WORKER_TASK_QUEUES: ${queues.join(', ')} has no work where SERVICES is ${services.join(', ')}${keyless}`,
  ];
}

/** A token says who calls: of two accounts with the same one the second could not be made. */
function repeatedTokens({
  AUTH_TOKEN: own,
  SEED_USERS: users,
}: Pick<Environment, 'AUTH_TOKEN' | 'SEED_USERS'>): string[] {
  const holders = new Map(own === undefined ? [] : [[own, 'AUTH_TOKEN']]);
  return users.flatMap(({ token }, index) => {
    if (token === undefined) return [];
    const holder = holders.get(token);
    if (holder !== undefined) return [`SEED_USERS[${index}]: its token is that of ${holder} as well`];
    holders.set(token, `SEED_USERS[${index}]`);
    return [];
  });
}

/** Without AUTH_TOKEN authentication would be off, and there is no other way in while the provider is away. */
function missingForOidc(given: Readonly<Record<string, string | undefined>>): string[] {
  if (given['AUTH_MODE'] !== 'oidc') return [];
  return ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'AUTH_TOKEN']
    .filter((name) => given[name] === undefined)
    .map((name) => `${name}: AUTH_MODE=oidc needs it`);
}

/** Pairs of which one is of no use without the other. */
const PAIRS = [
  ['OPENSEARCH_USERNAME', 'OPENSEARCH_PASSWORD'],
  ['OPENSEARCH_CLIENT_CERT_FILE', 'OPENSEARCH_CLIENT_KEY_FILE'],
  ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ['REDIS_CLIENT_CERT_FILE', 'REDIS_CLIENT_KEY_FILE'],
  ['BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY'],
] as const;

/** What is said of engines' credentials and contradicts itself. */
function halfGiven(given: Readonly<Record<string, string | undefined>>): string[] {
  const problems = PAIRS.flatMap(([one, other]) =>
    (given[one] === undefined) === (given[other] === undefined)
      ? []
      : given[one] === undefined
        ? [`${one}: ${other} needs it`]
        : [`${other}: ${one} needs it`],
  );
  if (given['REDIS_SENTINELS'] !== undefined && given['REDIS_CLUSTER_NODES'] !== undefined)
    problems.push('REDIS_CLUSTER_NODES: sentinels know no cluster; set it or REDIS_SENTINELS');
  for (const name of ['REDIS_SENTINELS', 'REDIS_CLUSTER_NODES'])
    if (given[name] !== undefined && given['REDIS_URL'] === undefined)
      problems.push(`${name}: REDIS_URL, which says user, password and TLS, is not set`);
  if (given['OPENSEARCH_AWS_REGION'] !== undefined && given['OPENSEARCH_USERNAME'] !== undefined)
    problems.push('OPENSEARCH_USERNAME: requests that are signed for AWS carry no user');
  return problems;
}
