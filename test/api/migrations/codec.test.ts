import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import { createPayloadCodec } from '../../../activities/temporal/payload-codec.js';
import { askJson } from '../support/ask-json.js';
import { signIn } from '../support/sign-in.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

const KEY = Buffer.alloc(32, 'codec');
const UI = 'https://temporal.example.org';

let gateway: Gateway;
let ada: string;
beforeEach(async () => {
  gateway = await startGateway({
    env: {
      SECRETS_KEY: KEY.toString('base64'),
      TEMPORAL_ENCRYPT_PAYLOADS: 'true',
      TEMPORAL_UI_ORIGIN: `${UI}/`,
      ALLOW_INSECURE_SECRETS: 'true',
    },
  });
  ada = gateway.addUser('ada').token;
});
afterEach(() => gateway.close());

/** A payload as Temporal's UI hands it over. */
function wire({
  metadata,
  data,
}: {
  metadata?: Record<string, Uint8Array> | null;
  data?: Uint8Array | null;
}) {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
    ),
    data: base64(data ?? new Uint8Array()),
  };
}

const PLAIN = wire(defaultPayloadConverter.toPayload({ file: 'minutes.md' }));

async function encrypted(key = KEY) {
  const [payload] = await createPayloadCodec([key], true).encode([
    defaultPayloadConverter.toPayload({ file: 'minutes.md' }),
  ]);
  return wire(payload!);
}

function ask(direction: string, body: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, 'POST', `/admin/temporal/codec/${direction}`, { body, token });
}

describe('/admin/temporal/codec', () => {
  it('is for administrators', async () => {
    const body = { payloads: [await encrypted()] };
    expect((await ask('decode', body, ada))[0]).toBe(403);
    expect((await gateway.call('POST', '/admin/temporal/codec/decode', { token: null })).status).toBe(403);
  });

  it('decrypts what is encrypted and leaves the rest, in the order of the payloads', async () => {
    const body = { payloads: [PLAIN, await encrypted(), PLAIN] };
    expect(await ask('decode', body)).toEqual([200, { payloads: [PLAIN, PLAIN, PLAIN] }]);
    expect(await ask('decode', { payloads: [] })).toEqual([200, { payloads: [] }]);
  });

  it('encrypts what a person starts by hand', async () => {
    const [status, body] = await ask('encode', { payloads: [PLAIN] });
    expect(status).toBe(200);
    expect(Buffer.from(body.payloads[0].metadata.encoding, 'base64').toString()).toBe('binary/encrypted');
    expect(await ask('decode', body)).toEqual([200, { payloads: [PLAIN] }]);
  });

  it('says that another key encrypted it, and refuses what is no payload', async () => {
    const foreign = await encrypted(Buffer.alloc(32, 'other'));
    expect(await ask('decode', { payloads: [foreign] })).toMatchObject([
      400,
      { detail: expect.stringContaining('SECRETS_KEY') },
    ]);
    for (const payload of [{ data: 'no base64!' }, { metadata: { encoding: 7 } }, 'text'])
      expect((await ask('decode', { payloads: [payload] }))[0]).toBe(422);
  });

  it('lets the page of Temporal’s UI use the session of an administrator, and no other page', async () => {
    const { cookie } = await signIn(gateway, ADMIN_TOKEN);
    const body = JSON.stringify({ payloads: [await encrypted()] });
    const from = (Origin: string, path = '/admin/temporal/codec/decode') =>
      gateway.call('POST', path, {
        token: null,
        headers: {
          Origin,
          Cookie: cookie,
          'Content-Type': 'application/json',
          'X-Namespace': 'default',
          // As browsers say of another host of the same domain.
          'Sec-Fetch-Site': 'same-site',
        },
        body,
      });
    const answer = await from(UI);
    expect([answer.status, await answer.json()]).toEqual([200, { payloads: [PLAIN] }]);
    expect(answer.headers.get('access-control-allow-origin')).toBe(UI);
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    const refused = await from('https://temporal.example.org.evil.example');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    // The origin opens these two paths alone.
    expect((await from(UI, '/admin/schedules/reconcile/run')).status).toBe(403);
  });

  it('answers the preflight of that page before it asks who it is', async () => {
    const preflight = await gateway.call('OPTIONS', '/admin/temporal/codec/decode', {
      token: null,
      headers: {
        Origin: UI,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,x-namespace',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-Namespace');
  });
});
