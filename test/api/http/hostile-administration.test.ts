import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

/** Names that would mean something else to a path, a query language or JavaScript. */
const HOSTILE = [
  '__proto__',
  'constructor',
  'toString',
  '$ne',
  '{"$gt":""}',
  '../users',
  'a/b',
  'a\u0000b',
  'embedder/builtin-hash',
  '%2e%2e',
  '*',
  '.*',
  'x'.repeat(5000),
  "' OR 1=1 --",
  '\u202e',
];
const BODIES = [
  '{"__proto__": {"is_default": true}}',
  '{"name": {"$gt": ""}}',
  '{"name": "__proto__", "preset_type": "retrieval", "config": {"__proto__": {"top_k": 1}}}',
  '{"name": "x", "model_type": "constructor", "endpoint": "http://x"}',
  '{"config": {"chunking": {"$set": 1}}}',
  '{"prompt_type": "toString", "name": "x", "content": "y"}',
  '[1]',
  'null',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
];
const TAGS = ['Model endpoints', 'Presets', 'Prompts', 'Tools'];

let gateway: Gateway;
let ada: string;
beforeAll(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada').token;
});
afterAll(() => gateway.close());

function routes() {
  return gateway.routes.filter(({ tag }) => TAGS.includes(tag));
}

function fill(path: string, value: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(name === 'type' ? 'llm' : value),
  );
}

async function snapshot() {
  return {
    endpoints: await gateway.adapters.endpoints.list(),
    defaults: await gateway.adapters.endpoints.defaults(),
    presets: await gateway.adapters.presets.list(),
    prompts: await gateway.adapters.prompts.list(),
    chosen: await gateway.adapters.prompts.defaults(),
  };
}

describe('the administration, asked with hostile names', () => {
  it('has the routes that it is about', () => {
    expect(routes().length).toBeGreaterThanOrEqual(24);
  });

  it('finds nothing under them, and changes nothing', async () => {
    const before = await snapshot();
    const odd: unknown[] = [];
    for (const { method, path } of routes().filter((one) => one.path.includes('{')))
      for (const name of HOSTILE) {
        const body = ['put', 'patch'].includes(method) ? { body: '{}' } : {};
        const response = await gateway.call(method.toUpperCase(), fill(path, name), {
          ...body,
          headers: { 'Content-Type': 'application/json' },
        });
        // What decodes to other steps of a path is another route, or none.
        if (![404, 405, 400, 422].includes(response.status)) odd.push([method, path, name, response.status]);
      }
    expect(odd).toEqual([]);
    expect(await snapshot()).toEqual(before);
  });

  it('refuses hostile bodies and queries, and changes nothing', async () => {
    const before = await snapshot();
    const odd: unknown[] = [];
    for (const { method, path } of routes())
      for (const body of BODIES) {
        const send = method !== 'get' && method !== 'delete';
        const response = await gateway.call(
          method.toUpperCase(),
          `${fill(path, 'none')}?limit[$gt]=1&model_type[]=llm`,
          {
            ...(send ? { body, headers: { 'Content-Type': 'application/json' } } : {}),
          },
        );
        const status = response.status;
        if (status >= 500 || (send && status < 400)) odd.push([method, path, body.slice(0, 40), status]);
      }
    expect(odd).toEqual([]);
    expect(await snapshot()).toEqual(before);
    expect(({} as Record<string, unknown>)['is_default']).toBeUndefined();
  });

  it('tells a user nothing but that it is not allowed', async () => {
    for (const { method, path, auth } of routes()) {
      const response = await gateway.call(method.toUpperCase(), fill(path, 'builtin-extractive'), {
        token: ada,
      });
      if (auth === 'admin')
        expect([method, path, response.status, await response.json()]).toEqual([
          method,
          path,
          403,
          { detail: 'Admin privileges required' },
        ]);
      else expect(['/v1/tools', '/v1/tools/execute']).toContain(path);
    }
  });
});
