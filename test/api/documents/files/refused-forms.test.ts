import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

/** More than the room that the bodies of one caller may take at once. */
const LARGE = 40 * 1024 * 1024;

let gateway: Gateway;
let token: string;
beforeEach(async () => {
  gateway = await startGateway({ env: { MAX_UPLOAD_SIZE_MB: '1' } });
  token = gateway.addUser('ada').token;
  await indexText(gateway, { partition: 'one', fileId: 'f', token }, ['A text.']);
});
afterEach(() => gateway.close());

interface Part {
  name: string;
  bytes: number;
}

/** A form in chunks, as a client sends it that does not know how long it gets. */
async function send(method: string, path: string, parts: Part[]): Promise<{ status: number; text: string }> {
  async function* form(): AsyncGenerator<Buffer> {
    for (const { name, bytes } of parts) {
      yield Buffer.from(
        `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.txt"\r\n` +
          'Content-Type: text/plain\r\n\r\n',
      );
      const block = Buffer.alloc(64 * 1024, 'a');
      for (let sent = 0; sent < bytes; sent += block.length) yield block.subarray(0, bytes - sent);
      yield Buffer.from('\r\n');
    }
    yield Buffer.from('--x--\r\n');
  }
  const answer = await gateway.call(method, path, {
    token,
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    body: Readable.toWeb(Readable.from(form())),
    duplex: 'half',
  });
  return { status: answer.status, text: await answer.text() };
}

describe.each([
  ['POST', '/indexer/partition/one/file/new'],
  ['POST', '/v1/tools/execute'],
])('a large form that is refused is told why: %s %s', (method, path) => {
  it('whose part has another name', async () => {
    const { status, text } = await send(method, path, [{ name: 'document', bytes: LARGE }]);
    expect([status, text]).toEqual([422, expect.stringContaining('One part `file` is taken')]);
  });

  it('with a second file', async () => {
    const parts = [
      { name: 'file', bytes: 10 },
      { name: 'file', bytes: LARGE },
    ];
    const { status, text } = await send(method, path, parts);
    expect([status, text]).toEqual([422, expect.stringContaining('One part `file` is taken')]);
  });

  it('whose file is larger than a file may be', async () => {
    const { status, text } = await send(method, path, [{ name: 'file', bytes: LARGE }]);
    expect([status, text]).toEqual([413, expect.stringContaining('File exceeds the maximum')]);
  });
});

it.each([
  ['POST', '/partition/one/users'],
  ['PATCH', '/indexer/partition/one/file/f'],
])('a form of fields with a large file is told why: %s %s', async (method, path) => {
  const { status, text } = await send(method, path, [{ name: 'file', bytes: LARGE }]);
  expect([status, text]).toEqual([422, expect.stringContaining('No file is taken')]);
});
