import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startGateway } from '../api/support/start-gateway.js';
import type { Gateway } from '../api/support/start-gateway.js';
import { watchHealth } from './support/health-watch.js';

let gateway: Gateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = gateway.addUser('ada', { is_admin: true }).token;
});
afterAll(() => gateway.close());

async function send(path: string, body: string): Promise<{ status: number; text: string }> {
  const response = await gateway.call('POST', path, {
    token,
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    body: gzipSync(body),
  });
  return { status: response.status, text: await response.text() };
}

/** Of the eight megabytes of a body one half. */
const MANY = 2_000_000;

function wrongItems(many: number): string {
  return `[${'1,'.repeat(many - 1)}1]`;
}

function names(many: number, value: string): string {
  return `{${Array.from({ length: many }, (_, i) => `"${i.toString(36)}":${value}`).join(',')}}`;
}

const ASKING = '"messages":[{"role":"user","content":"?"}]';

test.each([
  ['messages', '/v1/chat/completions', `{"messages":${wrongItems(MANY)}}`],
  ['parts', '/v1/chat/completions', `{"messages":[{"role":"user","content":${wrongItems(MANY)}}]}`],
  ['tools', '/v1/chat/completions', `{${ASKING},"tools":${wrongItems(MANY)}}`],
  ['biases', '/v1/chat/completions', `{${ASKING},"logit_bias":${names(150_000, '""')}}`],
  ['biases of a prompt', '/v1/completions', `{"prompt":"?","logit_bias":${names(150_000, '""')}}`],
  ['prompts', '/v1/completions', `{"prompt":${wrongItems(MANY)}}`],
  [
    'tokens',
    '/v1/embeddings',
    `{"input":[${Array(20)
      .fill(`["",${wrongItems(90_000).slice(1)}`)
      .join(',')}]}`,
  ],
  ['names of payloads', '/admin/temporal/codec/decode', `{"payloads":[{"metadata":${names(150_000, '1')}}]}`],
])(
  'a body of a multitude of wrong %s is refused with its first faults',
  async (_, path, body) => {
    const { status, text } = await watchHealth(gateway, () => send(path, body));
    expect(status).toBe(422);
    expect(text.length).toBeLessThan(64 * 1024);
  },
  60_000,
);

test('of a short body each fault is listed, a hundred at most, and none at length', async () => {
  const path = '/partition/one/workspaces/two/files';
  await gateway.call('POST', '/partition/one', { token });
  const listed = async (fileIds: string) => {
    const { status, text } = await send(path, `{"file_ids":${fileIds}}`);
    expect(status).toBe(422);
    return (JSON.parse(text) as { detail: unknown[] }).detail;
  };
  expect(await listed('[{},"a",7]')).toMatchObject([
    { type: 'invalid_type', loc: ['body', 'file_ids', 0], input: {} },
    { loc: ['body', 'file_ids', 2], input: 7 },
  ]);
  expect(await listed(wrongItems(500))).toHaveLength(100);
  const unknown = await send('/admin/embedder-swaps', names(9_000, '0'));
  expect(unknown).toMatchObject({ status: 422, text: expect.stringContaining('unrecognized_keys') });
  expect(unknown.text.length).toBeLessThan(2_000);
});

/** The places of lists and records without a bound. */
function unbounded(schema: z.core.$ZodType, place: string, seen = new Set<z.core.$ZodType>()): string[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const inner = (next: z.core.$ZodType, step = ''): string[] => unbounded(next, place + step, seen);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, field]) => inner(field as z.ZodType, `.${name}`));
  if (schema instanceof z.ZodArray) {
    const isBounded = schema.def.checks?.some(({ _zod: { def } }) => def.check === 'max_length') === true;
    return [...(isBounded ? [] : [place]), ...inner(schema.element, '[]')];
  }
  if (schema instanceof z.ZodRecord) {
    const open = schema.valueType instanceof z.ZodUnknown || schema.meta()?.['maxProperties'] !== undefined;
    return open ? inner(schema.valueType, '{}') : [place];
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => inner(option));
  if (schema instanceof z.ZodPipe) return [...inner(schema.def.in), ...inner(schema.def.out)];
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType };
  return innerType === undefined ? [] : inner(innerType);
}

test('every list and record of what is sent has a bound', () => {
  expect(unbounded(z.object({ a: z.array(z.record(z.string(), z.number())).nullish() }), '')).toEqual([
    '.a',
    '.a[]',
  ]);
  const found = gateway.routes.flatMap(({ method, path, request = {} }) =>
    (['body', 'bodyAsForm', 'form'] as const).flatMap((part) =>
      request[part] === undefined ? [] : unbounded(request[part], `${method} ${path} ${part}`),
    ),
  );
  expect(found).toEqual([]);
});
