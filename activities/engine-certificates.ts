import { readFileSync } from 'node:fs';
import { ConfigError } from '../schemas/config/config-error.js';

/**
 * What stands in a file of certificates or of a key. It must be PEM: what TLS would say of it names no file.
 * @param variable the one that names the file
 * @param path null: none is named
 * @throws ConfigError that names the variable
 */
export function readPem(variable: string, path: string | null | undefined): Buffer | undefined {
  if (path == null) return undefined;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be read: ${(error as Error).message}`);
  }
  if (!bytes.includes('-----BEGIN ')) throw new ConfigError(`${variable}: ${path} is not PEM.`);
  return bytes;
}
