import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../../../../schemas/app-error.js';
import { samplePages } from '../../../support/documents/sample-pages.js';
import { writeDocx } from '../../../support/documents/write-docx.js';
import { writePdf } from '../../../support/documents/write-pdf.js';
import { until } from '../../../support/until.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway, GatewayOptions } from '../../support/start-gateway.js';
import { openAiError } from '../../support/openai-error.js';

let gateway: Gateway;
let ada: string;

async function start(options: GatewayOptions = {}): Promise<void> {
  gateway = await startGateway(options);
  ada = gateway.addUser('ada').token;
}

beforeEach(() => start());
afterEach(async () => {
  // Nothing is left behind, whatever became of the call.
  await until(
    'the scratch directory is empty',
    async () => (await readdir(gateway.scratchDirectory)).length === 0,
  );
  await gateway.close();
});

async function restart(options: GatewayOptions): Promise<void> {
  await gateway.close();
  await start(options);
}

const TOOL = '{"name": "extractText"}';

async function execute(
  file: { name: string; content: Buffer | string } | null,
  fields: Record<string, string> = { tool: TOOL },
): Promise<[number, { message: string; detail: unknown }]> {
  const form = new FormData();
  if (file !== null)
    form.set(
      'file',
      new Blob([typeof file.content === 'string' ? file.content : new Uint8Array(file.content)]),
      file.name,
    );
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const response = await gateway.call('POST', '/v1/tools/execute', { body: form, token: ada });
  return [response.status, (await response.json()) as { message: string; detail: unknown }];
}

const TEXT = { name: 'a.txt', content: 'Été\n\nzanzibar 9007199254740993' };

describe('GET /v1/tools', () => {
  it('lists extractText', async () => {
    const response = await gateway.call('GET', '/v1/tools', { token: ada });
    expect([response.status, await response.json()]).toEqual([
      200,
      [{ name: 'extractText', description: expect.any(String) }],
    ]);
    expect((await gateway.call('GET', '/v1/tools', { token: null })).status).toBe(403);
  });

  it('is there with the OpenAI surface only', async () => {
    await restart({ env: { WITH_OPENAI_API: 'false' } });
    expect((await gateway.call('GET', '/v1/tools', { token: ada })).status).toBe(404);
  });
});

describe('POST /v1/tools/execute', () => {
  it('answers the text of each kind of file', async () => {
    expect(await execute(TEXT)).toEqual([200, { message: TEXT.content }]);
    const markdown = '# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```';
    const [, { message: md }] = await execute({ name: 'a.md', content: markdown });
    for (const fragment of ['# Title', '| 1 | 2 |', 'code']) expect(md).toContain(fragment);
    const html = await execute({ name: 'a.html', content: '<h1>Head</h1><p>Word &amp; word</p>' });
    expect(html[1].message).toMatch(/Head\s+Word & word/);
    const docx = writeDocx([{ heading: 'Head', level: 1 }, { paragraph: 'A paragraph.' }]);
    expect((await execute({ name: 'a.docx', content: docx }))[1].message).toMatch(/Head\s+A paragraph\./);
    const [status, { message: pdf }] = await execute({ name: 'a.pdf', content: writePdf(samplePages(2)) });
    expect([status, pdf.length > 100]).toEqual([200, true]);
    expect(await execute({ name: 'empty.txt', content: '' })).toEqual([200, { message: '' }]);
  }, 30_000);

  it('takes the name and the type of the file from the metadata', async () => {
    const bare = { name: 'blob', content: 'text' };
    const said = (metadata: object) => ({ tool: TOOL, metadata: JSON.stringify(metadata) });
    expect((await execute(bare))[0]).toBe(415);
    expect((await execute(bare, said({ mime: 'text/plain' })))[0]).toBe(200);
    expect((await execute(bare, said({ name: 'a.txt', mime: 'application/octet-stream' })))[0]).toBe(200);
    expect((await execute(bare, said({ name: '../../a.txt' })))[0]).toBe(200);
    expect((await execute(TEXT, said({ mime: 'application/pdf' })))[0]).toBe(415);
  });

  it('refuses what is not a tool', async () => {
    const refused = (tool: string) => execute(TEXT, { tool });
    expect(await refused('{')).toEqual([400, openAiError('BAD_REQUEST', expect.stringContaining('JSON'))]);
    expect(await refused('{}')).toEqual([400, openAiError('BAD_REQUEST', expect.stringContaining("'name'"))]);
    expect((await refused('[]'))[0]).toBe(400);
    expect(await refused('{"name": "rm"}')).toEqual([400, openAiError('BAD_REQUEST', 'Tool rm not found')]);
    expect((await execute(TEXT, { tool: TOOL, metadata: 'x' }))[0]).toBe(400);
  });

  it('refuses a form without its parts, and what is no form', async () => {
    expect((await execute(null))[0]).toBe(422);
    expect((await execute(TEXT, {}))[0]).toBe(422);
    const json = { body: '{}', headers: { 'Content-Type': 'application/json' }, token: ada };
    expect((await gateway.call('POST', '/v1/tools/execute', json)).status).toBe(422);
    expect((await gateway.call('POST', '/v1/tools/execute', { token: null })).status).toBe(403);
  });

  it('refuses what is too large, of another type, damaged or endless', async () => {
    await restart({ env: { MAX_UPLOAD_SIZE_MB: '1', PARSE_TIMEOUT: '1' } });
    const large = { name: 'a.txt', content: 'x'.repeat(1024 * 1024 + 1) };
    expect(await execute(large)).toEqual([
      413,
      openAiError('PAYLOAD_TOO_LARGE', 'File exceeds the maximum allowed size of 1 MB.'),
    ]);
    expect((await execute({ name: 'a.xyz', content: 'x' }))[0]).toBe(415);
    expect((await execute({ name: 'a.pdf', content: 'no pdf' }))[0]).toBe(415);
    const [status, damaged] = await execute({ name: 'a.pdf', content: '%PDF-1.7\nnothing' });
    expect([status, damaged.detail]).toEqual([422, expect.stringContaining('[FILE_CORRUPT]')]);
    const endless = writePdf(samplePages(1), { selfRecursiveForm: true });
    const [late, body] = await execute({ name: 'a.pdf', content: endless });
    expect([late, body.detail]).toEqual([504, expect.stringContaining('[PARSE_TIMEOUT]')]);
  }, 30_000);

  it('stops reading when the client leaves', async () => {
    let stopped = false;
    let begun = false;
    await restart({
      parser: {
        extractText: ({ signal }) =>
          new Promise((_resolve, reject) => {
            begun = true;
            signal?.addEventListener('abort', () => {
              stopped = true;
              reject(signal.reason as Error);
            });
          }),
      },
    });
    const leave = new AbortController();
    const form = new FormData();
    form.set('file', new Blob(['text']), 'a.txt');
    form.set('tool', TOOL);
    const asked = fetch(`${gateway.url}/v1/tools/execute`, {
      method: 'POST',
      body: form,
      signal: leave.signal,
      headers: { Authorization: `Bearer ${ada}` },
    }).catch(() => 'left');
    await until('the file is being read', async () => begun);
    leave.abort();
    expect(await asked).toBe('left');
    await until('the parser is stopped', async () => stopped);
  });

  it('asks to come again when too many are at work', async () => {
    const release: (() => void)[] = [];
    await restart({
      parser: {
        extractText: () =>
          new Promise((_resolve, reject) => {
            release.push(() => reject(new AppError('FILE_CORRUPT')));
          }),
      },
    });
    const send = (token: string): Promise<Response> => {
      const form = new FormData();
      form.set('file', new Blob(['text']), 'a.txt');
      form.set('tool', TOOL);
      return gateway.call('POST', '/v1/tools/execute', { body: form, token });
    };
    const refusedTo = async (token: string): Promise<void> => {
      const refused = await send(token);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    };
    const bob = gateway.addUser('bob').token;
    const calls = Array.from({ length: 8 }, () => execute(TEXT));
    await until('all of a user are at work', async () => release.length === 8);
    await refusedTo(ada);
    const others = Array.from({ length: 8 }, () => send(bob));
    await until('all are at work', async () => release.length === 16);
    await refusedTo(gateway.addUser('cy').token);
    for (const end of release) end();
    for (const [status] of await Promise.all(calls)) expect(status).toBe(422);
    for (const { status } of await Promise.all(others)) expect(status).toBe(422);
  });

  it('asks to come again when files take too much room', async () => {
    const release: (() => void)[] = [];
    await restart({
      env: { MAX_UPLOAD_SIZE_MB: '15' },
      parser: {
        extractText: () =>
          new Promise((_resolve, reject) => {
            release.push(() => reject(new AppError('FILE_CORRUPT')));
          }),
      },
    });
    const send = async (token: string, mebibytes: number): Promise<number> => {
      const form = new FormData();
      form.set('file', new Blob([Buffer.alloc(mebibytes * 1024 * 1024, 'a')]), 'a.txt');
      form.set('tool', TOOL);
      const answer = await gateway.call('POST', '/v1/tools/execute', { body: form, token });
      await answer.text();
      return answer.status;
    };
    const bob = gateway.addUser('bob').token;
    const adas = [send(ada, 15), send(ada, 15)];
    await until('hers are at work', async () => release.length === 2);
    expect(await send(ada, 3)).toBe(503);
    const bobs = [send(bob, 15), send(bob, 15)];
    await until('all are at work', async () => release.length === 4);
    expect(await send(gateway.addUser('cy').token, 5)).toBe(503);
    for (const end of release) end();
    expect(await Promise.all([...adas, ...bobs])).toEqual([422, 422, 422, 422]);
    const again = send(ada, 15);
    await until('there is room again', async () => release.length === 5);
    release[4]!();
    expect(await again).toBe(422);
  }, 60_000);
});
