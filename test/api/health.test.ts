import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway } from './support/start-gateway.js';
import type { Gateway } from './support/start-gateway.js';

let gateway: Gateway;
afterEach(() => gateway.close());

describe('GET /health_check', () => {
  it('is open to everyone and says one JSON string', async () => {
    gateway = await startGateway();
    const response = await gateway.call('GET', '/health_check', { token: null });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe('"RAG API is up."');
  });
});

describe('GET /version', () => {
  it('tells our release and the contract', async () => {
    gateway = await startGateway();
    const body = await (await gateway.call('GET', '/version/', { token: null })).json();
    expect(body).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), api_version: '2.3' });
  });
});

describe('GET /ready', () => {
  it('is ready when the three engines answer', async () => {
    gateway = await startGateway();
    const response = await gateway.call('GET', '/ready', { token: null });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'ready',
      checks: {
        ...{ postgres: 'ok', milvus: 'ok', ray: 'ok', mongodb: 'ok', opensearch: 'ok', temporal: 'ok' },
        ...{ embedder: 'ok', llm: 'ok', reranker: 'unresolvable' },
      },
      model_endpoints: [
        { provider: 'configured', kind: 'embedder', status: 'ok' },
        { provider: 'configured', kind: 'llm', status: 'ok' },
      ],
      configuration_references: [],
    });
  });

  it('is not ready without Temporal, while /health_check still answers', async () => {
    gateway = await startGateway();
    gateway.workflows.state.away = true;
    const response = await gateway.call('GET', '/ready', { token: null });
    expect(response.status).toBe(503);
    const body = (await response.json()) as { status: string; checks: Record<string, string> };
    expect(body).toMatchObject({
      status: 'not_ready',
      checks: { ray: 'unavailable', temporal: 'unavailable' },
    });
    expect((await gateway.call('GET', '/health_check', { token: null })).status).toBe(200);
  });

  it('gives an engine that hangs two seconds', async () => {
    gateway = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        probes: { ...adapters.probes, opensearch: () => new Promise(() => {}) },
      }),
    });
    const body = (await (await gateway.call('GET', '/ready', { token: null })).json()) as {
      checks: Record<string, string>;
    };
    expect(body.checks).toMatchObject({ milvus: 'timeout', opensearch: 'timeout', mongodb: 'ok' });
  });
});
