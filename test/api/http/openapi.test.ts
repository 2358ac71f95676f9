import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';

interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<string, { security: unknown[]; responses: object; requestBody?: { content: object } }>
  >;
  components: { schemas: object; securitySchemes: object };
}

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('GET /openapi.json', () => {
  it('describes exactly the routes that are served', async () => {
    const response = await gateway.call('GET', '/openapi.json', { token: null });
    expect(response.status).toBe(200);
    const document = (await response.json()) as Document;
    expect(document.openapi).toBe('3.1.1');
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    );
    expect(described.sort()).toEqual(
      gateway.routes.map(({ method, path }) => `${method} ${path.replace('{+', '{')}`).sort(),
    );
  });

  it('names security, bodies and errors', async () => {
    const document = (await (await gateway.call('GET', '/openapi.json')).json()) as Document;
    expect(document.paths['/health_check']?.['get']?.security).toEqual([]);
    const upload = document.paths['/indexer/partition/{partition}/file/{file_id}']?.['post'];
    expect(upload?.security).toEqual([{ bearer: [] }]);
    expect(upload?.requestBody?.content).toHaveProperty(['multipart/form-data']);
    expect(Object.keys(upload?.responses ?? {})).toEqual(
      expect.arrayContaining(['201', '400', '403', '409', '413', '415', '422']),
    );
    expect(document.components.securitySchemes).toEqual({ bearer: { type: 'http', scheme: 'bearer' } });
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['TaskStatus', 'ChatRequest']),
    );
  });
});

it('describes the errors of backups as they are answered where the proxy is alone', async () => {
  const proxy = await startProxy({ isProxyAlone: true });
  try {
    const document = JSON.parse(await (await proxy.ask('/openapi.json')).text()) as Document;
    const described = JSON.stringify(document.paths['/admin/backups']?.['get']?.responses);
    const refused = await proxy.ask('/admin/backups', { key: 'wrong' });
    expect([refused.status, await refused.json()]).toEqual([
      401,
      expect.objectContaining({ detail: expect.any(String) }),
    ]);
    expect(described).toContain('DomainError');
    expect(described).not.toContain('ManagementError');
    expect(JSON.stringify(document.paths['/api/alerts'])).toContain('ManagementError');
  } finally {
    await proxy.close();
  }
});

describe('every route of the table', () => {
  const responsesOf = (document: Document, { method, path }: Gateway['routes'][number]) =>
    document.paths[path.replace('{+', '{')]?.[method]?.responses as Record<
      string,
      { content: Record<string, { schema: unknown }> }
    >;
  const documentOf = async () => (await (await gateway.call('GET', '/openapi.json')).json()) as Document;

  it('names 429 where requests are limited, and only there', async () => {
    const document = await documentOf();
    for (const entry of gateway.routes) {
      const limited = !['/health_check', '/ready'].includes(entry.path);
      expect([entry.path, '429' in responsesOf(document, entry)]).toEqual([entry.path, limited]);
    }
  });

  it('names what is said of any body, and of any form', async () => {
    const document = await documentOf();
    for (const entry of gateway.routes) {
      const { body, ownBody, form, multipart, bodyAsForm } = entry.request ?? {};
      const statuses = Object.keys(responsesOf(document, entry));
      const wanted = [
        ...((body ?? ownBody ?? form ?? multipart) ? ['408', '413', '503'] : []),
        ...((form ?? multipart ?? bodyAsForm) ? ['400', '422'] : []),
      ];
      expect([entry.path, statuses]).toEqual([entry.path, expect.arrayContaining(wanted)]);
    }
  });

  it('names 422 where a name, an option or a body may be refused', async () => {
    const document = await documentOf();
    const refuse = async (entry: Gateway['routes'][number]): Promise<number> => {
      const path = entry.path
        .replaceAll(/\{\+?\w+\}/g, 'AAA')
        .concat('?include_document_ids=&limit=AAA&page_size=AAA&include_embedding=AAA');
      const headers = { 'Content-Type': 'application/json' };
      const body = entry.method === 'get' ? {} : { headers, body: '[1]' };
      const response = await gateway.call(entry.method.toUpperCase(), path, body);
      await response.body?.cancel();
      return response.status;
    };
    let refused = 0;
    for (const entry of gateway.routes) {
      if (entry.request?.multipart !== undefined || entry.request?.form !== undefined) continue;
      if ((await refuse(entry)) !== 422) continue;
      refused += 1;
      expect([entry.method, entry.path, Object.keys(responsesOf(document, entry))]).toEqual([
        entry.method,
        entry.path,
        expect.arrayContaining(['422']),
      ]);
    }
    expect(refused).toBeGreaterThan(30);
  });

  it('gives 422 every shape that it has, and source files any type', async () => {
    const document = await documentOf();
    for (const entry of gateway.routes) {
      const invalid = responsesOf(document, entry)['422']?.content['application/json']?.schema;
      if (invalid === undefined) continue;
      for (const name of ['InvalidRequest', 'PlainError', 'DomainError'])
        expect([entry.path, JSON.stringify(invalid)]).toEqual([entry.path, expect.stringContaining(name)]);
      const isOpenAi = JSON.stringify(invalid).includes('OpenAiInvalidRequest');
      expect([entry.path, isOpenAi]).toEqual([entry.path, entry.path.startsWith('/v1/')]);
    }
    const file = document.paths['/static/{extract_id}']?.['get']?.responses as Record<
      string,
      { content: object }
    >;
    expect(Object.keys(file['200']?.content ?? {})).toEqual(['*/*']);
    const chat = document.paths['/v1/chat/completions']?.['post']?.responses as typeof file;
    expect(Object.keys(chat['200']?.content ?? {})).toEqual(['application/json', 'text/event-stream']);
    const events = document.paths['/admin/migrations/{name}/events']?.['get']?.responses as typeof file;
    expect(Object.keys(events['200']?.content ?? {})).toEqual(['text/event-stream']);
  });
});

describe('GET /docs and /redoc', () => {
  it.each(['/docs', '/docs/', '/redoc'])('%s is a page that needs nothing from elsewhere', async (path) => {
    const response = await gateway.call('GET', path, { token: null });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
    const html = await response.text();
    expect(html).not.toMatch(/https?:\/\//);
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(assets).toHaveLength(5);
    for (const asset of assets) {
      const answer = await gateway.call('GET', asset, { token: null });
      expect([asset, answer.status]).toEqual([asset, 200]);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  it('serves those files and no others', async () => {
    for (const name of ['package.json', '..%2Fpackage.json', 'constructor'])
      expect((await gateway.call('GET', `/docs/assets/${name}`)).status).toBe(404);
  });
});
