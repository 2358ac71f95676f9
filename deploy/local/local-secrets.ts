import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from './write-atomically.js';

/** What protects this clone's data: made up at the first start and kept, so that stored secrets stay readable. */
interface LocalSecrets {
  readonly auth_token: string;
  readonly dashboard_key: string;
  /** 32 bytes in base64. */
  readonly secrets_key: string;
}

export function localSecrets(local: string): LocalSecrets {
  const file = join(local, 'secrets.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LocalSecrets;
  } catch (error) {
    // an unreadable file is not replaced: with a new key everything encrypted with the old one would be lost
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secrets = {
    auth_token: randomBytes(24).toString('base64url'),
    dashboard_key: randomBytes(24).toString('base64url'),
    secrets_key: randomBytes(32).toString('base64'),
  };
  writeAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`, 0o600);
  return secrets;
}
