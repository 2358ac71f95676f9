import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { AppError } from '../../../schemas/app-error.js';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First part of every box, so that another way of sealing can be told apart later. */
const FORMAT = 'v1';

/** Tells keys apart without telling anything of them: 16 hexadecimal digits of an HMAC under the key. */
export function keyFingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('tamis fingerprint of SECRETS_KEY').digest('hex').slice(0, 16);
}

export interface Encryption {
  /** @param owner whose secret it is; a box opens for the same owner only, so that boxes cannot be swapped */
  seal(secret: string, owner: string): string;
  /** @throws AppError CONFIG_ERROR when the box was sealed with another key, or has been tampered with */
  open(box: string, owner: string): string;
  /** The same secret under the present key; null: it is already. @throws AppError CONFIG_ERROR like `open` */
  reseal(box: string, owner: string): string | null;
  /** Whether there is a key besides the present one. */
  hasFormerKeys: boolean;
}

/**
 * Seals secrets with AES-256-GCM under a random nonce. Random 96-bit nonces are safe for some four billion boxes
 * under one key (NIST SP 800-38D, section 8.3).
 * @param key the 32 bytes of SECRETS_KEY, which seals
 * @param former keys that open as well, and never seal
 * @throws AppError CONFIG_ERROR when a key has another length
 */
export function createEncryption(key: Buffer, former: readonly Buffer[]): Encryption {
  for (const each of [key, ...former])
    if (each.length !== KEY_BYTES)
      throw new AppError(
        'CONFIG_ERROR',
        `SECRETS_KEY must be ${KEY_BYTES} bytes in base64, not ${each.length}.`,
      );

  const openWithAny = (box: string, owner: string): { secret: string; isPresent: boolean } => {
    let cause: unknown;
    for (const each of [key, ...former])
      try {
        return { secret: openBox(each, box, owner), isPresent: each === key };
      } catch (error) {
        cause = error;
      }
    throw new AppError(
      'CONFIG_ERROR',
      'A stored secret cannot be decrypted: SECRETS_KEY is not the key it was encrypted with.',
      { cause },
    );
  };

  return {
    seal: (secret, owner) => sealBox(key, secret, owner),
    open: (box, owner) => openWithAny(box, owner).secret,
    reseal(box, owner) {
      const { secret, isPresent } = openWithAny(box, owner);
      return isPresent ? null : sealBox(key, secret, owner);
    },
    hasFormerKeys: former.length > 0,
  };
}

function sealBox(key: Buffer, secret: string, owner: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${FORMAT}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

function openBox(key: Buffer, box: string, owner: string): string {
  const [format, content = ''] = box.split('.');
  if (format !== FORMAT) throw new Error(`the box has the unknown format ${format}`);
  const bytes = Buffer.from(content, 'base64url');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([opened, decipher.final()]).toString('utf8');
}
