import { expect, test } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import type { Payload } from '@temporalio/common';
import { createPayloadCodec } from '../../../activities/temporal/payload-codec.js';

const [present, former, foreign] = ['present', 'former', 'foreign'].map((name) => Buffer.alloc(32, name)) as [
  Buffer,
  Buffer,
  Buffer,
];
const VALUE = { partition: 'planted-partition', note: 'é'.repeat(1000), bytes: 7 };
const plain = defaultPayloadConverter.toPayload(VALUE);

function valueOf(payload: Payload): unknown {
  return defaultPayloadConverter.fromPayload(payload);
}

test('what is encrypted shows nothing, differs each time, and is read again', async () => {
  const codec = createPayloadCodec([present], true);
  const sealed = await codec.encode([plain, plain, { metadata: {}, data: new Uint8Array() }]);
  const texts = sealed.map(
    ({ data, metadata }) => `${Buffer.from(data!).toString()}${JSON.stringify(metadata)}`,
  );
  for (const text of texts) expect(text).not.toContain('planted');
  expect(Buffer.from(sealed[0]!.data!).equals(Buffer.from(sealed[1]!.data!))).toBe(false);
  expect(Buffer.from(sealed[0]!.metadata!['encoding']!).toString()).toBe('binary/encrypted');
  const [first, second, empty] = await codec.decode(sealed);
  expect([valueOf(first!), valueOf(second!)]).toEqual([VALUE, VALUE]);
  expect(empty).toMatchObject({ metadata: {} });
  // Twice encrypted it would have to be decrypted twice.
  expect(await codec.encode(sealed)).toEqual(sealed);
});

test('what was kept before it was turned on is read, and what is encrypted after it was turned off', async () => {
  const [sealed] = await createPayloadCodec([present], true).encode([plain]);
  const off = createPayloadCodec([present], false);
  expect(await off.encode([plain])).toEqual([plain]);
  expect((await off.decode([sealed!, plain])).map(valueOf)).toEqual([VALUE, VALUE]);
});

test('a former key decrypts, and the present one encrypts', async () => {
  const [old] = await createPayloadCodec([former], true).encode([plain]);
  const codec = createPayloadCodec([present, former], true);
  expect(valueOf((await codec.decode([old!]))[0]!)).toEqual(VALUE);
  const [sealed] = await codec.encode([plain]);
  expect(valueOf((await createPayloadCodec([present], true).decode([sealed!]))[0]!)).toEqual(VALUE);
  await expect(createPayloadCodec([former], true).decode([sealed!])).rejects.toThrow(/^SECRETS_KEY: /);
});

test('another key and changed bytes are errors, never other values', async () => {
  const codec = createPayloadCodec([present], true);
  const [sealed] = await codec.encode([plain]);
  await expect(createPayloadCodec([foreign], true).decode([sealed!])).rejects.toThrow('another key');
  for (const at of [1, 14, 40, sealed!.data!.length - 1]) {
    const data = Buffer.from(sealed!.data!);
    data[at]! ^= 1;
    await expect(codec.decode([{ ...sealed!, data }])).rejects.toThrow('changed or cut off');
  }
  for (const length of [0, 1, 20, 28]) {
    const data = sealed!.data!.subarray(0, length);
    await expect(codec.decode([{ ...sealed!, data }])).rejects.toThrow(/changed or cut off|unknown format/);
  }
});
