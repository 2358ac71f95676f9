import { constants, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
let token: string;
beforeEach(async () => {
  gateway = await startGateway();
  token = gateway.addUser('ada').token;
  expect((await gateway.call('POST', '/partition/one', { token })).status).toBe(201);
});
afterEach(() => gateway.close());

/** So many spaces packed up to the end of a block, and behind them bytes that are no block. */
function tornBody(spaces: number): Buffer<ArrayBuffer> {
  const whole = gzipSync(Buffer.alloc(spaces, ' '), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([whole, Buffer.alloc(64, 0xff)]);
}

const MEGABYTE = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';

it.each([
  ['/app/session', 'application/json', 8 * MEGABYTE],
  ['/partition/one/users', FORM, MEGABYTE],
])('a packed body that is too large and torn behind that is refused: %s', async (path, type, limit) => {
  for (const beyond of [16_400, 20_000, 32_768]) {
    const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' };
    const answer = await gateway.call('POST', path, { token, headers, body: tornBody(limit + beyond) });
    expect([beyond, answer.status]).toEqual([beyond, 413]);
    await answer.body?.cancel();
    // What is unpacked behind the answer has been by the next one.
    expect((await gateway.call('GET', '/health_check')).status).toBe(200);
  }
});
