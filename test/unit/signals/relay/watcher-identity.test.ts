import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import {
  bearerToken,
  readLogin,
  tokenExpiry,
  watcherOf,
} from '../../../../api/signals/relay/watcher-identity.js';

function token(claims: unknown): string {
  return ['{}', JSON.stringify(claims), 'sig']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
}

function body(value: unknown) {
  return { bytes: Buffer.from(JSON.stringify(value)) };
}

describe('watcherOf', () => {
  it.each([
    ['id first', { sub: 's', machine_id: 'm', id: 'i' }, 'i'],
    ['then machine_id', { sub: 's', machine_id: 'm' }, 'm'],
    ['then sub', { sub: 's', id: 7 }, 's'],
    ['an odd name is passed over', { id: 'a b\n', sub: 's' }, 's'],
    ['too long', { id: 'x'.repeat(129) }, null],
    ['a slash', { id: '../other' }, null],
    ['no claim', {}, null],
    ['a list', [], null],
    ['null', null, null],
  ])('%s', (_name, claims, expected) => {
    expect(watcherOf(token(claims))).toBe(expected);
  });

  it.each(['', 'opaque', 'a.b', 'a.b.c', 'a.e30', `a.${'x'.repeat(20_000)}.c`])('no JWT: %.20s', (text) => {
    expect(watcherOf(text)).toBeNull();
  });
});

describe('bearerToken', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc', 'abc'],
    ['Basic abc', null],
    ['Bearer', null],
    ['Bearer a b', null],
    [undefined, null],
  ])('%j → %j', (header, expected) => {
    expect(bearerToken(header)).toBe(expected);
  });
});

describe('tokenExpiry', () => {
  it('reads exp in seconds', () => {
    expect(tokenExpiry(token({ exp: 1_800_000_000 }))).toEqual(new Date(1_800_000_000_000));
  });
  it.each([{}, { exp: '1800000000' }, { exp: -1 }, { exp: 1e18 }, { exp: null }])('not from %j', (claims) => {
    expect(tokenExpiry(token(claims))).toBeNull();
  });
});

describe('readLogin', () => {
  const login = body({ machine_id: 'machine', password: 'p', scenarios: [] });

  it('takes the name of the token, for signals come with the token alone', async () => {
    const jwt = token({ id: 'claimed' });
    expect(
      await readLogin(login, body({ code: 200, expire: '2026-10-01T12:00:00.123456789Z', token: jwt })),
    ).toEqual({
      watcher: 'claimed',
      token: jwt,
      expiresAt: new Date('2026-10-01T12:00:00.123Z'),
    });
  });

  it('takes machine_id for a token that does not tell, and exp for a missing expire', async () => {
    expect(await readLogin(login, body({ token: 'opaque' }))).toEqual({
      watcher: 'machine',
      token: 'opaque',
      expiresAt: null,
    });
    const jwt = token({ id: 'w', exp: 1_800_000_000 });
    expect((await readLogin(login, body({ token: jwt, expire: 'never' })))?.expiresAt).toEqual(
      new Date(1_800_000_000_000),
    );
  });

  it('reads compressed bodies', async () => {
    const packed = (value: unknown) => ({ bytes: gzipSync(JSON.stringify(value)), encoding: 'gzip' });
    expect((await readLogin(packed({ machine_id: 'machine' }), packed({ token: 'opaque' })))?.watcher).toBe(
      'machine',
    );
  });

  it.each([
    ['no token', login, body({ code: 200 })],
    ['a token that breaks a header', login, body({ token: 'a\r\nb' })],
    ['nobody', body({}), body({ token: 'opaque' })],
    ['no JSON', { bytes: Buffer.from('<html>') }, body({ token: 'opaque' })],
    ['a broken encoding', login, { bytes: Buffer.from('{}'), encoding: 'gzip' }],
    ['a bomb', login, { bytes: gzipSync(Buffer.alloc(5_000_000, ' ')), encoding: 'gzip' }],
  ])('tells nothing: %s', async (_name, request, response) => {
    expect(await readLogin(request, response)).toBeNull();
  });
});
