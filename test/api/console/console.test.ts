import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

const PAGE = '<!doctype html><title>Tamis</title>';
const SCRIPT = 'console.log("tamis");';
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let parent: string;
let folder: string;
let gateway: Gateway;

async function put(name: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), content);
}

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'tamis-console-test-'));
  folder = join(parent, 'dist');
  await put('index.html', PAGE);
  await put('assets/main-B1x_2.js', SCRIPT);
  await put('assets/main-B1x_2.js.br', brotliCompressSync(SCRIPT));
  await put('assets/main-B1x_2.js.gz', gzipSync(SCRIPT));
  await put('assets/style-C3.css', 'body{}');
  await put('assets/map.json', '{}');
  await put('favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await put('.secret', 'hidden');
  await writeFile(join(parent, 'outside.txt'), 'outside');
  gateway = await startGateway({ consoleFolder: folder });
});
afterAll(async () => {
  await gateway.close();
  await rm(parent, { recursive: true });
});

interface Raw {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Around fetch, which tidies paths and unpacks bodies. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    request({ hostname, port, path, method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (bytes: Buffer) => parts.push(bytes));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('the console', () => {
  it.each(['/app', '/app/', '/app/index.html', '/app/documents/some%20name', '/app/signals/alerts/7'])(
    '%s is its page, which a browser never keeps',
    async (path) => {
      const { status, headers, body } = await ask(path, BROWSER);
      expect([status, body.toString()]).toEqual([200, PAGE]);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-security-policy']).toBe(
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
          "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    },
  );

  it.each([
    ['/app/assets/main-B1x_2.js', 'text/javascript; charset=utf-8'],
    ['/app/assets/style-C3.css', 'text/css; charset=utf-8'],
    ['/app/assets/map.json', 'application/json; charset=utf-8'],
  ])('%s is kept for a year', async (path, type) => {
    const { status, headers } = await ask(path);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  it('asks again for a file whose name stays the same, and sends it only when it has changed', async () => {
    const first = await ask('/app/favicon.svg');
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-cache']);
    expect(first.headers['content-type']).toBe('image/svg+xml');
    const etag = String(first.headers.etag);
    for (const known of [etag, `"other", W/${etag}`]) {
      const again = await ask('/app/favicon.svg', { 'If-None-Match': known });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await ask('/app/favicon.svg', { 'If-None-Match': '"other"' })).status).toBe(200);
    await put('favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg" id="new"/>');
    const changed = await ask('/app/favicon.svg', { 'If-None-Match': etag });
    expect([changed.status, changed.body.toString().includes('new')]).toEqual([200, true]);
  });

  it('is sent as the build packed it, where the client unpacks that', async () => {
    const path = '/app/assets/main-B1x_2.js';
    const packed = async (accept: string) => {
      const { headers, body } = await ask(path, { 'Accept-Encoding': accept });
      expect(headers.vary).toMatch(/Accept-Encoding/);
      expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
      return { encoding: headers['content-encoding'], body, etag: headers.etag };
    };
    expect((await packed('gzip, deflate, br')).encoding).toBe('br');
    const gzip = await packed('gzip');
    expect([gzip.encoding, gunzipSync(gzip.body).toString()]).toEqual(['gzip', SCRIPT]);
    expect((await packed('gzip, br;q=0')).encoding).toBe('gzip');
    const plain = await packed('identity');
    expect([plain.encoding, plain.body.toString()]).toEqual([undefined, SCRIPT]);
    expect(new Set([gzip.etag, plain.etag]).size).toBe(2);
    expect(
      (await ask('/app/assets/style-C3.css', { 'Accept-Encoding': 'br' })).headers['content-encoding'],
    ).toBe(undefined);
  });

  it('answers HEAD without a body, and no other method', async () => {
    const { status, headers, body } = await ask('/app/assets/style-C3.css', {}, 'HEAD');
    expect([status, headers['content-length'], body.length]).toEqual([200, '6', 0]);
    for (const path of ['/app/', '/app/assets/style-C3.css']) {
      const refused = await ask(path, {}, 'POST');
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  it.each([
    '/app/no-such-file.js',
    '/app/documents',
    '/app/assets',
    '/app/assets/',
    '/app/favicon.svg/x',
    '/app//favicon.svg',
  ])('answers a program 404 for %s', async (path) => {
    const { status, body } = await ask(path, { Accept: '*/*' });
    expect([status, body.toString()]).toEqual([404, '{"detail":"Not Found"}']);
  });

  it('does not answer a missing script with a page', async () => {
    expect((await ask('/app/assets/main-old.js', BROWSER)).status).toBe(404);
  });

  it.each([
    '/app/../outside.txt',
    '/app/../../../../../../etc/passwd',
    '/app/..%2foutside.txt',
    '/app/%2e%2e/outside.txt',
    '/app/%252e%252e%252foutside.txt',
    '/app/..%5coutside.txt',
    '/app/..\\outside.txt',
    '/app/assets/../../outside.txt',
    '/app/assets/..;/../outside.txt',
    '/app/%00/../outside.txt',
    '/app/favicon.svg%00.js',
    '/app/.secret',
    '/app/%2esecret',
    '/app//etc/passwd',
    '/app/%2fetc%2fpasswd',
    '/app/file:///etc/passwd',
    `/app/${'a/'.repeat(3000)}x`,
    `/app/${'x'.repeat(5000)}`,
  ])('shows nothing outside of the build: %s', async (path) => {
    const answers = [await ask(path, { Accept: '*/*' }), await ask(path, BROWSER)];
    for (const { status, body } of answers) {
      expect(status).toBeLessThan(500);
      expect(body.toString()).not.toMatch(/outside|hidden|root:|<svg/);
    }
    expect(answers[0]?.status).toBe(404);
  });

  it('is open to everyone, and its folder is no partition', async () => {
    expect((await gateway.call('GET', '/app/', { token: null })).status).toBe(200);
    const made = await gateway.call('POST', '/partition/app');
    expect([made.status, await made.text()]).toEqual([
      400,
      expect.stringContaining('RESERVED_PARTITION_NAME'),
    ]);
  });
});

describe('GET /', () => {
  it('leads a browser to the console, and tells a program what this is', async () => {
    const led = await ask('/', BROWSER);
    expect([led.status, led.headers.location, led.headers.vary]).toEqual([302, '/app/', 'Accept']);
    for (const accept of [{}, { Accept: '*/*' }, { Accept: 'application/json, text/html;q=0.5' }]) {
      const told = await ask('/', accept);
      expect([told.status, JSON.parse(told.body.toString())]).toMatchObject([200, { app: 'openrag' }]);
    }
  });
});

describe('without a build', () => {
  it('the console says how to come by one, and serves it as soon as it is there', async () => {
    const later = join(parent, 'later');
    const other = await startGateway({ consoleFolder: later });
    const get = (path: string, accept: string) =>
      other.call('GET', path, { token: null, headers: { Accept: accept } });
    for (const path of ['/app/', '/app/documents']) {
      const response = await get(path, BROWSER.Accept);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        503,
        'text/plain; charset=utf-8',
      ]);
      expect(await response.text()).toMatch(/^The console is not built: run `npm run build -w web`[^\n]*\n$/);
    }
    expect((await get('/app/assets/main.js', '*/*')).status).toBe(404);
    await mkdir(later);
    await writeFile(join(later, 'index.html'), PAGE);
    expect(await (await get('/app/', BROWSER.Accept)).text()).toBe(PAGE);
    await other.close();
  });
});
