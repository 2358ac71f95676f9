import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface Answer {
  data: { index: number; embedding: number[] | string }[];
  usage: object;
  model: string;
  detail?: unknown;
}

async function embed(body: object, token?: string | null): Promise<[number, Answer]> {
  const response = await gateway.call('POST', '/v1/embeddings', {
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
    ...(token === undefined ? {} : { token }),
  });
  return [response.status, (await response.json()) as Answer];
}

async function vectorsOf(body: object): Promise<unknown[]> {
  return (await embed(body))[1].data.map((one) => one.embedding);
}

describe('POST /v1/embeddings', () => {
  it('is for everybody with a token', async () => {
    expect((await embed({ input: 'x' }, null))[0]).toBe(403);
    expect((await embed({ input: 'x' }, gateway.addUser('ada').token))[0]).toBe(200);
  });

  it('gives one vector of unit length for each text, in order, and counts tokens', async () => {
    const [status, body] = await embed({ model: 'builtin-hash', input: ['The pump is green.', 'A valve.'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'list',
      model: 'builtin-hash',
      usage: { prompt_tokens: 8, total_tokens: 8 },
      data: [
        { object: 'embedding', index: 0 },
        { object: 'embedding', index: 1 },
      ],
    });
    for (const { embedding } of body.data) {
      expect(embedding).toHaveLength(1024);
      expect(Math.hypot(...(embedding as number[]))).toBeCloseTo(1, 5);
    }
    expect(await vectorsOf({ input: 'A valve.' })).toEqual([body.data[1]?.embedding]);
    expect(await vectorsOf({ model: 'builtin/hash-1024', input: 'A valve.', dimensions: 1024 })).toHaveLength(
      1,
    );
  });

  it('writes little-endian floats in base64 when asked to', async () => {
    const [floats] = (await vectorsOf({ input: 'A valve.' })) as [number[]];
    const [text] = (await vectorsOf({ input: 'A valve.', encoding_format: 'base64' })) as [string];
    const bytes = Buffer.from(text, 'base64');
    expect(bytes).toHaveLength(4096);
    floats.forEach((value, index) => expect(bytes.readFloatLE(index * 4)).toBeCloseTo(value, 6));
  });

  it('takes tokens for the texts that they stand for', async () => {
    const text = 'La soupape s’ouvre à 4 bars.';
    const [wanted] = await vectorsOf({ input: text });
    expect(await vectorsOf({ input: encode(text) })).toEqual([wanted]);
    expect(await vectorsOf({ input: [encode(text), encode('x')] })).toHaveLength(2);
  });

  it('takes a thousand chunks of some 4,000 characters, and writes their vectors one after the other', async () => {
    const input = Array.from({ length: 1_000 }, (_, index) => `${index} ${'valve and pump '.repeat(260)}`);
    const response = await gateway.call('POST', '/v1/embeddings', {
      body: JSON.stringify({ input, encoding_format: 'base64' }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, null]);
    const { data } = (await response.json()) as Answer;
    expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
  });

  it.each([
    [{ input: '' }, 400],
    [{ input: [] }, 400],
    [{ input: ['x', ' '] }, 400],
    [{ input: [199_999] }, 400],
    [{ input: 'x', dimensions: 3 }, 400],
    [{ input: 'x', model: 'nothing' }, 404],
    [{ input: 'word '.repeat(250_000) }, 413],
    [{ input: Array.from({ length: 41 }, () => 'a'.repeat(100_000)) }, 413],
    [{ input: Array.from({ length: 11 }, () => new Array<number>(100_000).fill(64)) }, 413],
    [{ input: Array.from({ length: 2049 }, () => 'x') }, 422],
    [{ input: [['x']] }, 422],
    [{ input: 'x', encoding_format: 'hex' }, 422],
    [{}, 422],
  ])('refuses %.60j', async (body, status) => {
    expect((await embed(body))[0]).toBe(status);
  });
});
