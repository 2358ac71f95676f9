/**
 * `npm run env`: writes `.env` for docker-compose.yml, from `deploy/env.example`, with secrets of this machine's own.
 * Plain Node without a package, since the machine may have nothing but Docker and Node. It never changes a file that
 * is there: its secrets protect stored data. `--to FILE`: another place.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const SECRETS = {
  AUTH_TOKEN: () => randomBytes(24).toString('base64url'),
  DASHBOARD_API_KEY: () => randomBytes(24).toString('base64url'),
  SECRETS_KEY: () => randomBytes(32).toString('base64'),
  // hexadecimal: they stand in URLs
  MONGODB_PASSWORD: () => randomBytes(24).toString('hex'),
  MONGODB_ROOT_PASSWORD: () => randomBytes(24).toString('hex'),
  POSTGRES_PASSWORD: () => randomBytes(24).toString('hex'),
};

const at = process.argv.indexOf('--to');
const file = at < 0 ? join(root, '.env') : (process.argv[at + 1] ?? '');
const text = readFileSync(join(root, 'deploy/env.example'), 'utf8').replace(/^([A-Z_]+)=$/gm, (line, name) =>
  name in SECRETS ? `${name}=${SECRETS[name]()}` : line,
);
try {
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  console.log(`Wrote ${file} with new secrets. Now: docker compose up --build`);
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
  console.error(`${file} is there already, and its secrets protect what is stored: it is left as it is.`);
  process.exit(1);
}
