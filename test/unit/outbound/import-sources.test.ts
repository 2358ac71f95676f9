import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createImportSources } from '../../../activities/outbound/import-sources.js';
import type { ImportSources } from '../../../activities/ports/imports.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

let server: Server;
let base: string;
let sources: ImportSources;
let asked: { path: string; authorization: string | undefined }[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
    answer(request, response);
  });
  ({ url: base } = await listenOnLoopback(server));
  sources = createImportSources({ allowPrivateAddresses: true });
});
afterEach(async () => {
  await sources.close();
  await endServer(server);
});

function open(from: ImportSources = sources, signal = new AbortController().signal) {
  return from.open({ url: base, token: 'or-secret' }, { requestsPerSecond: 1000, signal });
}

describe('an answer that comes byte by byte', () => {
  it.each(['json', 'eachOf'] as const)('ends in its time: %s', async (kind) => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
    };
    const patient = createImportSources({ allowPrivateAddresses: true, wholeAnswerTimeoutMs: 300 });
    const service = open(patient);
    const read = kind === 'json' ? service.json('/x') : service.eachOf('/x', 'files', () => undefined);
    await expect(read).rejects.toMatchObject({
      code: 'IMPORT_SOURCE_FAILED',
      message: 'The answer to /x did not come within 0.3 seconds.',
    });
    await patient.close();
  });
});

describe('a source of an import', () => {
  it('is asked with its token, and its whole numbers stay exact', async () => {
    answer = (_request, response) => response.end('{"big": 9007199254740993, "small": 7, "part": 0.25}');
    expect(await open().json('/partition/')).toEqual({ big: 9007199254740993n, small: 7, part: 0.25 });
    expect(asked).toEqual([{ path: '/partition/', authorization: 'Bearer or-secret' }]);
  });

  it('is waited for where it limits its clients', async () => {
    answer = (_request, response) =>
      asked.length < 3
        ? response.writeHead(429, { 'retry-after': '0' }).end()
        : response.end('{"users": []}');
    expect(await open().json('/users/')).toEqual({ users: [] });
    expect(asked).toHaveLength(3);
  });

  it('never sends the token where a redirect leads', async () => {
    answer = (_request, response) => response.writeHead(302, { location: `${base}/elsewhere` }).end();
    await expect(open().json('/users/')).rejects.toMatchObject({ code: 'IMPORT_SOURCE_REFUSED' });
    expect(asked.map(({ path }) => path)).toEqual(['/users/']);
  });

  it.each([
    [401, 'IMPORT_SOURCE_REFUSED', false],
    [403, 'IMPORT_SOURCE_REFUSED', false],
    [422, 'IMPORT_SOURCE_REFUSED', false],
    [500, 'IMPORT_SOURCE_FAILED', true],
    [503, 'IMPORT_SOURCE_FAILED', true],
  ])('says what an answer %i means, and whether asking again may help', async (status, code, retryable) => {
    answer = (_request, response) => response.writeHead(status).end('a body that nobody repeats');
    const failure = await open()
      .json('/users/')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, retryable, message: `The source answered ${status} to /users/.` });
  });

  it('answers null for what is not there, and refuses what is no JSON', async () => {
    answer = (request, response) =>
      request.url === '/none' ? response.writeHead(404).end() : response.end('<html>');
    expect(await open().json('/none')).toBeNull();
    await expect(open().json('/page')).rejects.toMatchObject({ code: 'IMPORT_SOURCE_REFUSED' });
    await expect(
      open().downloads.open('/none', { maxBytes: 9, timeoutMs: 1000, signal: new AbortController().signal }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('gives bytes, up to what is taken', async () => {
    const limits = { maxBytes: 5, timeoutMs: 1000, signal: new AbortController().signal };
    answer = (_request, response) => response.end('12345');
    expect((await buffer((await open().downloads.open('/static/a', limits)).body)).toString()).toBe('12345');
    answer = (_request, response) => response.end('123456');
    await expect(open().downloads.open('/static/a', limits)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    // One that does not say how long it is.
    answer = (_request, response) => {
      response.write('123');
      response.end('456');
    };
    const { body } = await open().downloads.open('/static/a', limits);
    await expect(buffer(body)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it.each(['its first byte', 'its end'])('may not take longer than its time until %s', async (until) => {
    const giveUp = new AbortController();
    const limits = { maxBytes: 9_000_000, timeoutMs: 200, signal: giveUp.signal };
    const late = { code: 'IMPORT_SOURCE_FAILED', message: expect.stringContaining('within 0.2 seconds') };
    answer = (_request, response) => {
      if (until !== 'its end') return;
      const dripping = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(dripping));
    };
    const read = async () => buffer((await open().downloads.open('/static/a', limits)).body);
    await expect(read()).rejects.toMatchObject(late);
    const second = read();
    giveUp.abort(new Error('given up'));
    await expect(second).rejects.toThrow('given up');
  });

  it('breaking off is a failure that may be over soon, and a cancel is a cancel', async () => {
    answer = (request) => request.socket.destroy();
    await expect(open().json('/users/')).rejects.toMatchObject({ code: 'IMPORT_SOURCE_FAILED' });
    const givenUp = AbortSignal.abort(new Error('given up'));
    await expect(open(sources, givenUp).json('/users/')).rejects.toThrow('given up');
  });

  it('is not asked at a private address unless that is allowed', async () => {
    answer = (_request, response) => response.end('{}');
    const guarded = createImportSources({ allowPrivateAddresses: false });
    await expect(open(guarded).json('/users/')).rejects.toMatchObject({
      code: 'IMPORT_SOURCE_REFUSED',
      message: expect.stringContaining('IMPORT_ALLOW_PRIVATE_URLS'),
    });
    expect(asked).toEqual([]);
    await guarded.close();
  });
});
