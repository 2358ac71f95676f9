import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { NOTHING, leftovers, taskIdOf, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.close());

function send(fields: Record<string, string>, method = 'POST', content = 'text') {
  return gateway.call(method, '/indexer/partition/notes/file/a1', { body: uploadForm(content, fields) });
}

describe('callback_url and callback_token of an upload', () => {
  it('are kept for the task, by POST and by PUT', async () => {
    const url = 'https://hooks.example.org/done?x=1';
    const first = await taskIdOf(await send({ callback_url: url, callback_token: 's3cret' }));
    expect(await gateway.adapters.callbacks.get(first)).toMatchObject({
      url,
      token: 's3cret',
      state: 'waiting',
      attempts: 0,
    });
    expect((await gateway.adapters.tasks.get(first))?.has_callback).toBe(true);
    const second = await taskIdOf(await send({ callback_url: url }, 'PUT'));
    expect(await gateway.adapters.callbacks.get(second)).toMatchObject({ url, token: null });
    const silent = await taskIdOf(await send({ callback_url: ' ', callback_token: 'x' }, 'PUT'));
    expect(await gateway.adapters.callbacks.get(silent)).toBeNull();
  });

  it.each(['nonsense', '//host/x', 'http://', `https://example.org/${'x'.repeat(5000)}`])(
    'a text that is no address is 400: %.20s',
    async (callback_url) => {
      const refused = await send({ callback_url });
      expect([refused.status, await refused.json()]).toEqual([
        400,
        { detail: 'callback_url is not a valid URL' },
      ]);
      expect(await leftovers(gateway)).toEqual(NOTHING);
    },
  );

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://192.168.0.1/',
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
    'http://localhost:8080/',
    'http://0.0.0.0/',
    'http://[fe80::1]/',
    'http://[64:ff9b::a00:1]/',
    'ftp://example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ])('an address that is not public is 400: %s', async (callback_url) => {
    const refused = await send({ callback_url });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { detail: 'callback_url must be a public http(s) URL' },
    ]);
    expect(await leftovers(gateway)).toEqual(NOTHING);
  });

  it('a private one is taken where the operator allows it', async () => {
    await gateway.close();
    gateway = await startGateway({ env: { INDEXING_CALLBACK_ALLOW_PRIVATE_URLS: 'true' } });
    expect((await send({ callback_url: 'http://127.0.0.1:9/' })).status).toBe(201);
  });

  it('a token that cannot be a header is 400', async () => {
    const callback_url = 'https://example.org/';
    expect((await send({ callback_url, callback_token: 'a\r\nb: c' })).status).toBe(400);
  });

  it('a refused upload leaves none', async () => {
    await send({});
    const callback_url = 'https://example.org/';
    expect((await send({ callback_url })).status).toBe(409);
    expect(await gateway.adapters.callbacks.listUntried(new Date(Date.now() + 1000), 10)).toEqual([]);
  });
});
