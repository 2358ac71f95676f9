import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { ValueError } from '@temporalio/common';
import type { Payload, PayloadCodec } from '@temporalio/common';

/** As Temporal's own samples mark such payloads, so that its UI shows what they are where no codec is set up. */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
/** Of the way in which bytes are laid out below. */
const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Nothing that is sealed with SECRETS_KEY itself can be taken for a payload, nor the other way round. */
const PURPOSE = 'tamis temporal payloads 1';

interface PayloadKey {
  id: string;
  key: Buffer;
}

function derive(secret: Buffer): PayloadKey {
  const key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), PURPOSE, KEY_BYTES));
  return { id: createHash('sha256').update(key).digest('hex').slice(0, 16), key };
}

/**
 * What Temporal keeps of workflows (arguments, results, memos, summaries, failures) under AES-256-GCM with a key that
 * HKDF derives from SECRETS_KEY (RFC 5869). What was written before it was turned on is read as it is.
 * @param secrets 32 bytes each: the present SECRETS_KEY, which encrypts, and former ones, which decrypt alone
 * @param encrypts false: only what is encrypted already is read, so that it can be turned off again
 */
export function createPayloadCodec(secrets: readonly Buffer[], encrypts: boolean): PayloadCodec {
  const keys = secrets.map(derive);
  const [present] = keys;
  return {
    async encode(payloads) {
      if (!encrypts || present === undefined) return payloads;
      return payloads.map((payload) => (isEncrypted(payload) ? payload : encrypt(present, payload)));
    },
    async decode(payloads) {
      return payloads.map((payload) => (isEncrypted(payload) ? decrypt(keys, payload) : payload));
    },
  };
}

function isEncrypted({ metadata }: Payload): boolean {
  const encoding = metadata?.['encoding'];
  return encoding != null && Buffer.from(encoding).toString() === ENCODING;
}

function encrypt({ id, key }: PayloadKey, payload: Payload): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  const sealed = Buffer.concat([cipher.update(pack(payload)), cipher.final()]);
  return {
    metadata: { encoding: Buffer.from(ENCODING), [KEY_ID]: Buffer.from(id) },
    data: Buffer.concat([Buffer.from([FORMAT]), nonce, cipher.getAuthTag(), sealed]),
  };
}

/** @throws ValueError when no key opens it: the workflow task fails, and is tried again once there is one */
function decrypt(keys: readonly PayloadKey[], { metadata, data }: Payload): Payload {
  const id = Buffer.from(metadata?.[KEY_ID] ?? []).toString();
  const known = keys.find((each) => each.id === id);
  if (known === undefined)
    throw new ValueError(`SECRETS_KEY: Temporal keeps what was encrypted with another key (${id}).`);
  const bytes = Buffer.from(data ?? []);
  if (bytes[0] !== FORMAT) throw new ValueError(`An encrypted payload has the unknown format ${bytes[0]}.`);
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', known.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
    return unpack(
      Buffer.concat([decipher.update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()]),
    );
  } catch (error) {
    throw new ValueError('An encrypted payload of Temporal was changed or cut off.', error);
  }
}

/** Length of the metadata in four bytes, the metadata (base64 in JSON), the data as it is. */
function pack({ metadata, data }: Payload): Buffer {
  const head = Buffer.from(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
      ),
    ),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? Buffer.alloc(0)]);
}

function unpack(bytes: Buffer): Payload {
  const end = 4 + bytes.readUInt32BE();
  const head = JSON.parse(bytes.subarray(4, end).toString()) as Record<string, string>;
  return {
    metadata: Object.fromEntries(
      Object.entries(head).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
    ),
    data: bytes.subarray(end),
  };
}
