import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { createGuardedDispatcher } from '../../../activities/outbound/address-guard.js';
import { createDownloads } from '../../../activities/outbound/downloads.js';
import type { Downloads } from '../../../activities/ports/downloads.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

let server: Server;
let url: string;
let seen: IncomingMessage[];
let answer: RequestListener;
let downloads: Downloads;

function guarded(allowPrivate: boolean) {
  return createGuardedDispatcher({ allowPrivate, connectTimeoutMs: 1000 });
}

beforeEach(async () => {
  seen = [];
  downloads = createDownloads(guarded(true));
  server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  ({ url } = await listenOnLoopback(server));
});
afterEach(async () => {
  await downloads.close();
  await endServer(server);
});

const LIMITS = { maxBytes: 1000, timeoutMs: 5000 };

async function fetched(address: string, limits: Partial<typeof LIMITS & { signal: AbortSignal }> = {}) {
  const { body, ...said } = await downloads.open(address, {
    ...LIMITS,
    signal: new AbortController().signal,
    ...limits,
  });
  const parts: Buffer[] = [];
  for await (const part of body as AsyncIterable<Buffer>) parts.push(part);
  return { ...said, text: Buffer.concat(parts).toString() };
}

describe('a download', () => {
  it('says what the answer says of itself, and nothing of who asks', async () => {
    answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '5' }).end('hello');
    expect(await fetched(`${url}/a/b%20c.txt?x=1#part`)).toEqual({
      name: 'b c.txt',
      mimetype: 'text/plain',
      size: 5,
      text: 'hello',
    });
    expect(seen.map(({ url: path, headers }) => [path, headers])).toEqual([
      [
        '/a/b%20c.txt?x=1',
        {
          host: new URL(url).host,
          connection: 'keep-alive',
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'tamis',
        },
      ],
    ]);
  });

  it('follows redirects, and looks at each address', async () => {
    answer = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end('elsewhere');
      else response.end('here');
    };
    expect((await fetched(`${url}/5`)).text).toBe('here');
    await expect(fetched(`${url}/6`)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    for (const location of ['file:///etc/passwd', 'http://user:secret@example.org/', 'gopher://x/']) {
      answer = (_request, response) => response.writeHead(301, { location }).end();
      await expect(fetched(url)).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    }
  });

  it('ends where it is larger than allowed, announced or not', async () => {
    answer = (_request, response) => response.end('x'.repeat(1000));
    expect((await fetched(url)).text).toHaveLength(1000);
    answer = (_request, response) => response.end('x'.repeat(1001));
    await expect(fetched(url)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    let ended = false;
    answer = (_request, response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      response.once('close', () => (ended = true));
      const more = (): void => void (ended || response.write('x'.repeat(400), () => setTimeout(more, 1)));
      more();
    };
    await expect(fetched(url)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it.each([
    ['before its answer', () => undefined],
    ['in the middle of it', (_request, response) => void response.writeHead(200).write('a part')],
  ] as [string, RequestListener][])('ends where it takes too long, %s', async (_when, stall) => {
    answer = stall;
    await expect(fetched(url, { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: 'The document did not come within 0.1 seconds.',
    });
  });

  it('ends with the client', async () => {
    const gone = new AbortController();
    const reason = new Error('gone');
    answer = (_request, response) => {
      response.writeHead(200).write('a part', () => gone.abort(reason));
    };
    await expect(fetched(url, { signal: gone.signal })).rejects.toBe(reason);
  });

  it.each([
    ['204', (_request, response) => response.writeHead(204).end()],
    ['500', (_request, response) => response.writeHead(500).end('trace')],
    [
      'an encoding',
      (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x')),
    ],
  ] as [string, RequestListener][])('is none with %s', async (_what, respond) => {
    answer = respond;
    await expect(fetched(url)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
  });

  it.each(['127.0.0.1', '127.1', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])(
    'goes to no address that is not public: %s',
    async (host) => {
      await downloads.close();
      downloads = createDownloads(guarded(false));
      await expect(fetched(`http://${host}:${new URL(url).port}/`)).rejects.toMatchObject({
        code: 'DOWNLOAD_REFUSED',
      });
      expect(seen).toEqual([]);
    },
  );

  it.each(['http://127.0.0.1:PORT/', 'http://localhost:PORT/', 'http://169.254.169.254/latest/meta-data'])(
    'follows no public site inside: %s',
    async (inside) => {
      await downloads.close();
      // The public site is our own server, past the guard; what it points to is not.
      const site = new Agent();
      const dispatcher = guarded(false).compose(
        (dispatch) => (options, handler) =>
          String(options.origin) === 'http://site.example'
            ? site.dispatch({ ...options, origin: url }, handler)
            : dispatch(options, handler),
      );
      downloads = createDownloads(dispatcher);
      const location = inside.replace('PORT', new URL(url).port);
      answer = (request, response) => {
        if (request.url === '/plain') response.end('public');
        else response.writeHead(302, { location }).end();
      };
      expect((await fetched('http://site.example/plain')).text).toBe('public');
      await expect(fetched('http://site.example/')).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
      expect(seen.map(({ url: path }) => path)).toEqual(['/plain', '/']);
      await site.destroy();
    },
  );
});
