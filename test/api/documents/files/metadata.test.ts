import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'lossless-json';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let chunkId: string;

/** As a client writes it: what a double would round, and what a store could trip over. */
const SENT = `{
  "small": 42, "negative": -7, "zero": 0, "safe": 9007199254740991,
  "big": 9007199254740993, "most": 9223372036854775807, "least": -9223372036854775808,
  "real": 1.5, "exponent": 1e+300, "true": true, "nothing": null, "empty": "", "none": [], "hollow": {},
  "clé é 键 🔑": "Zürich – 東京 😀", "$set": {"a.b": {"$inc": 1}}, "dotted.key": "x",
  "deep": {"a": {"b": {"c": [{"d": [[], {}, [1, [2, [9007199254740993]]]]}]}}},
  "__proto__": {"polluted": true}, "constructor": "mine",
  "list": [1, "two", null, false, 9007199254740993]
}`;
const WANTED = parse(SENT) as Record<string, unknown>;

beforeAll(async () => {
  gateway = await startGateway();
  [chunkId = ''] = await indexText(gateway, { partition: 'p', fileId: 'f', metadata: SENT }, ['zanzibar']);
});
afterAll(() => gateway.close());

/** Lossless, so that a rounded digit shows. */
async function read(path: string): Promise<Record<string, unknown>> {
  return parse(await (await gateway.call('GET', path)).text()) as Record<string, unknown>;
}

const PLACES: [string, () => Promise<unknown>][] = [
  ['the list of files', async () => ((await read('/partition/p'))['files'] as unknown[])[0]],
  ['the file', async () => (await read('/partition/p/file/f'))['metadata']],
  [
    'a search',
    async () => ((await read('/search?text=zanzibar'))['documents'] as { metadata: unknown }[])[0]?.metadata,
  ],
  ['an extract', async () => (await read(`/extract/${chunkId}`))['metadata']],
  [
    'the chunks',
    async () => ((await read('/partition/p/chunks'))['chunks'] as { metadata: unknown }[])[0]?.metadata,
  ],
];

describe('metadata', () => {
  it.each(PLACES)('comes back as it was sent, in %s', async (_name, at) => {
    const found = (await at()) as Record<string, unknown>;
    for (const [key, value] of Object.entries(WANTED)) expect([key, found[key]]).toEqual([key, value]);
  });

  it.each([
    '{"a":9223372036854775808}',
    '{"a":-9223372036854775809}',
    '{"a":[{"b":123456789012345678901234567890}]}',
    '{"a":1e400}',
    `{"a":"${'x'.repeat(65_536)}"}`,
    JSON.stringify(Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, i]))),
    `{"a":[${'[1,2,3,4],'.repeat(70)}1]}`,
    '{"a":"\\ud800"}',
    '{"\\udc00":1}',
    `{"${'k'.repeat(257)}":1}`,
    '[1]',
    '"text"',
    'null',
    '{"a":',
    `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`,
    '['.repeat(100_000),
  ])('is refused with 400: %.60s', async (metadata) => {
    const response = await gateway.call('POST', '/indexer/partition/p/file/refused', {
      body: uploadForm('some text', { metadata }),
    });
    expect([response.status, await response.json()]).toEqual([400, { detail: expect.any(String) }]);
    expect(await gateway.adapters.files.get('p', 'refused')).toBeNull();
  });

  it('does not grow beyond its bounds by patches', async () => {
    const patch = (from: number, count: number): Promise<number> =>
      gateway
        .call('PATCH', '/indexer/partition/p/file/f', {
          body: new URLSearchParams({
            metadata: JSON.stringify(
              Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${from + i}`, i])),
            ),
          }),
        })
        .then(({ status }) => status);
    expect(await patch(0, 200)).toBe(200);
    expect(await patch(100, 100)).toBe(200);
    expect(await patch(200, 100)).toBe(400);
  });

  it.each(['.', '..'])('a file cannot be called %s', async (name) => {
    const path = `/indexer/partition/p/file/${encodeURIComponent(name).replaceAll('.', '%2e')}`;
    const { port } = new URL(gateway.url);
    const options = { port, path, method: 'DELETE', headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } };
    const status = await new Promise((resolve, reject) => {
      request(options, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(400);
  });

  it('cannot overwrite what the server says, and the upload succeeds', async () => {
    const lies = {
      file_id: 'lie',
      partition: 'lie',
      source: 'lie',
      filename: 'lie',
      file_size: 'lie',
      _id: 'lie',
      content_sha256: 'lie',
      indexed_at: 'lie',
      created_by: 99,
      file_count: 99,
      text: 'lie',
      vector: [1],
      vector_builtin_hash: [1],
      degraded_stages: ['lie'],
      _openrag_x: 'lie',
      page: 'lie',
      chunk_type: 'lie',
      section_id: 'lie',
      original_filename: 'lie',
      vector_score: 'lie',
      combined_score: 'lie',
      rerank_score: 'lie',
      honest: 'yes',
    };
    const [id] = await indexText(gateway, { partition: 'p', fileId: 'g', metadata: JSON.stringify(lies) }, [
      'quokka',
    ]);
    const file = ((await read('/partition/p'))['files'] as Record<string, unknown>[])[1];
    const found = ((await read('/search?text=quokka'))['documents'] as { metadata: object }[])[0]?.metadata;
    const extract = (await read(`/extract/${id}`))['metadata'] as object;
    for (const shown of [file, found, extract]) {
      const kept = Object.entries(shown ?? {}).filter(([, value]) => JSON.stringify(value)?.includes('lie'));
      // The file's own row knows nothing of chunks: these keys are a client's there.
      const ofChunks = ['chunk_type', 'section_id', 'vector_score', 'combined_score', 'rerank_score'];
      ofChunks.push('text', '_id');
      expect(kept.map(([key]) => key).filter((key) => !ofChunks.includes(key))).toEqual([]);
      expect(shown).toMatchObject({ honest: 'yes', file_id: 'g', partition: 'p' });
    }
    expect(JSON.stringify(found)).not.toContain('lie');
  });
});
