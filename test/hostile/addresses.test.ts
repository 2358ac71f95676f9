import { isIP } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { createGuardedDispatcher, isBlocked, isPublicUrl } from '../../activities/outbound/address-guard.js';
import type { ResolveName } from '../../activities/outbound/address-guard.js';

/** Every way of writing an address that is not the open web's. */
const INNER = [
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '0.0.0.0',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::10.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:0:10.0.0.1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[5f00::1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::1]',
  '[2002:a00:1::]',
  '[2001:0:1::1]',
  '[4000::1]',
  'localhost',
  'a.localhost',
  'a.localhost.',
  'printer.local',
  'metadata.google.internal',
];
const OUTER = [
  '8.8.8.8',
  '1.1.1.1',
  '[2606:4700::1111]',
  '[2a00:1450::1]',
  'example.org',
  'internal.example.org',
];

describe('an address that a client names', () => {
  test.each(INNER)('%s is not asked', (host) => {
    expect(isPublicUrl(new URL(`https://${host}/`))).toBe(false);
  });

  test.each(OUTER)('%s may be asked', (host) => {
    expect(isPublicUrl(new URL(`https://${host}/`))).toBe(true);
  });

  /** What a request for a name is told when the resolver says this of it. */
  const toldOf = async (resolve: ResolveName): Promise<unknown> => {
    const dispatcher = createGuardedDispatcher({ allowPrivate: false, connectTimeoutMs: 2_000, resolve });
    try {
      return await request('https://some-name.example/', { dispatcher }).catch((error: unknown) => error);
    } finally {
      await dispatcher.destroy();
    }
  };
  const fails =
    (code: string): ResolveName =>
    (host, _options, done) =>
      done(Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code }), []);
  const answers =
    (...addresses: string[]): ResolveName =>
    (_host, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );

  test('says the same of a name that is not there as of one that may not be asked', async () => {
    const absent = await toldOf(fails('ENOTFOUND'));
    expect(isBlocked(absent)).toBe(true);
    for (const inner of [answers('10.0.0.1'), answers('fd00::1'), answers('8.8.8.8', '127.0.0.1'), answers()])
      expect(String(await toldOf(inner))).toBe(String(absent));
  });

  test('tells a resolver that does not answer from a name that may not be asked', async () => {
    const failed = await toldOf(fails('EAI_AGAIN'));
    expect([isBlocked(failed), String(failed)]).toEqual([false, expect.stringContaining('EAI_AGAIN')]);
  });
});
