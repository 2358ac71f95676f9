/** Secrets that are too short, or published as examples, stop a process (wire contract, section 6.1). */
import { seedUsers } from './environment-fields.js';

/** Values printed in published examples; compared without case (wire contract, section 6.1). */
const PUBLISHED_SECRETS = new Set([
  'or-openrag-1234',
  'sk-openrag-1234',
  'openrag-dev-secret',
  'minioadmin',
  'postgres',
  'replace-with-a-strong-password',
  'sk-xxxx',
  'hf_xxxx',
  'change_me_strong_password',
  'root_password',
  'sk-or-change-me',
  'change-me-the-secret-from-step-1',
  'your_secret_value',
  'your-api-key',
  'x'.repeat(24),
  'replace-with-a-random-secret',
  '<random secret>',
  'test-admin-token',
  '__generate_me__',
]);

const SECRET_MIN_LENGTH = 12;

/** Variables whose value must be long and unpublished wherever they are set. */
const GUARDED_SECRETS = [
  'AUTH_TOKEN',
  'POSTGRES_PASSWORD',
  'CHAINLIT_AUTH_SECRET',
  'MINIO_SECRET_KEY',
  'GRAFANA_ADMIN_PASSWORD',
  'METRICS_TOKEN',
  'DASHBOARD_API_KEY',
  'CALLBACK_SIGNING_KEY',
] as const;

/** Keys of model servers and the like: their length is the server's matter, but a published sample is none. */
const MODEL_KEYS = [
  'OIDC_CLIENT_SECRET',
  'EMBEDDER_API_KEY',
  'API_KEY',
  'RERANKER_API_KEY',
  'VLM_API_KEY',
  'TRANSCRIBER_API_KEY',
  'WEBSEARCH_API_TOKEN',
] as const;

const SEALING_KEYS = ['SECRETS_KEY', 'SECRETS_KEY_PREVIOUS'] as const;

/** URLs whose password is guarded likewise. */
const GUARDED_URLS = ['MONGODB_URL', 'OPENSEARCH_URL'] as const;

function passwordOf(text: string): string | undefined {
  const match = /^[a-z+]+:\/\/[^/@:]*:([^@/]*)@/i.exec(text);
  try {
    return match?.[1] === undefined ? undefined : decodeURIComponent(match[1]);
  } catch {
    // The schema refuses it and names the variable.
    return match?.[1];
  }
}

/** Different characters that a secret must have: repeated letters and blanks are long, too. */
const MIN_DISTINCT = 6;

function weakness(secret: string): string | null {
  if (secret.trim().length < SECRET_MIN_LENGTH) return `is shorter than ${SECRET_MIN_LENGTH} characters`;
  if (PUBLISHED_SECRETS.has(secret.trim().toLowerCase())) return 'is a value published as an example';
  if (new Set(secret).size < MIN_DISTINCT) return `has fewer than ${MIN_DISTINCT} different characters`;
  return null;
}

/** Tokens of SEED_USERS are secrets like any other; what cannot be read is the schema's to refuse. */
function seededTokens(text: string | undefined): [string, string | undefined][] {
  const users = seedUsers.safeParse(text ?? '[]');
  return (users.data ?? []).map(({ token }, index) => [`the token of SEED_USERS[${index}]`, token]);
}

/** A key that seals others has to be random: its bytes differ. */
function weakKey(name: string, text: string | undefined): [string, string][] {
  if (text === undefined || text === '') return [];
  const distinct = new Set(Buffer.from(text, 'base64')).size;
  return distinct < MIN_DISTINCT ? [[name, 'is no random key']] : [];
}

export function insecureSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const candidates: [string, string | undefined][] = [
    ...GUARDED_SECRETS.map((name): [string, string | undefined] => [name, env[name]]),
    ...GUARDED_URLS.map((name): [string, string | undefined] => [
      `the password in ${name}`,
      passwordOf(env[name] ?? ''),
    ]),
    ...seededTokens(env['SEED_USERS']),
  ];
  const weak = candidates.flatMap(([name, value]): [string, string][] => {
    const problem = value === undefined || value === '' ? null : weakness(value);
    return problem === null ? [] : [[name, problem]];
  });
  const published = MODEL_KEYS.filter((name) => PUBLISHED_SECRETS.has((env[name] ?? '').toLowerCase())).map(
    (name): [string, string] => [name, 'is a value published as an example'],
  );
  const sealingKeys = SEALING_KEYS.flatMap((name) => weakKey(name, env[name]));
  return [...weak, ...published, ...sealingKeys].map(
    ([name, problem]) => `INSECURE_SECRET_CONFIGURATION: ${name} ${problem}`,
  );
}
