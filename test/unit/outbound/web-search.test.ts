import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { Agent } from 'undici';
import { createWebSearch } from '../../../activities/outbound/web-search.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

let server: Server | undefined;
let agent: Agent | undefined;
afterEach(async () => {
  await endServer(server);
  await agent?.close();
});

async function open(answer: (request: IncomingMessage) => { status?: number; body: string } | null) {
  const requests: IncomingMessage[] = [];
  server = createServer((request, response) => {
    requests.push(request);
    const given = answer(request);
    if (given !== null)
      response.writeHead(given.status ?? 200, { 'content-type': 'application/json' }).end(given.body);
  });
  const { url } = await listenOnLoopback(server);
  const baseUrl = `${url}/v2/search/web`;
  agent = new Agent();
  const web = createWebSearch(agent, { baseUrl, token: 'the-token', topK: 2, market: 'fr-fr' });
  return {
    requests,
    search: (query: string, signal = new AbortController().signal) => web.search(query, signal),
  };
}

function page(url: string, title = 'T', snippet = 'S') {
  return { url, title, snippet };
}

describe('createWebSearch', () => {
  test('asks for so many pages of a language, with the token in a header', async () => {
    const { requests, search } = await open(() => ({ body: JSON.stringify({ web: { results: [] } }) }));
    expect(await search(`  the \n pump & valve ${'x'.repeat(900)}`)).toEqual([]);
    const url = new URL(requests[0]?.url ?? '', 'http://host');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ count: '2', market: 'fr-fr' });
    expect(url.searchParams.get('q')).toMatch(/^the pump & valve x+$/);
    expect(url.searchParams.get('q')).toHaveLength(400);
    expect(requests[0]?.headers.authorization).toBe('Bearer the-token');
    expect(requests[0]?.url).not.toContain('the-token');
  });

  test('cuts titles and texts between two characters', async () => {
    const [title, snippet] = [`x${'😀'.repeat(200)}`, `x${'😀'.repeat(3000)}`];
    const results = [page('https://example.org/a', title, snippet)];
    const { search } = await open(() => ({ body: JSON.stringify({ results }) }));
    expect(await search('valve')).toEqual([
      { url: 'https://example.org/a', title: title.slice(0, 299), snippet: snippet.slice(0, 3999) },
    ]);
  });

  test('gives plain text, and addresses of the open web only', async () => {
    const results = [
      page('javascript:alert(1)'),
      page('http://127.0.0.1/admin'),
      page('https://intranet.local/'),
      { title: 'no address' },
      page('https://example.org/a', ' <b>Valves</b>\n', 'They \u200bopen at <em>4 bar</em>.'),
      { url: 'https://example.org/b', description: 'Other words.' },
      page('https://example.org/c'),
    ];
    const { search } = await open(() => ({ body: JSON.stringify({ results }) }));
    expect(await search('valve')).toEqual([
      { url: 'https://example.org/a', title: 'Valves', snippet: 'They open at 4 bar.' },
      { url: 'https://example.org/b', title: '', snippet: 'Other words.' },
    ]);
  });

  test.each([
    ['a refusal', { status: 401, body: '{}' }],
    ['broken JSON', { body: '{"web": ' }],
    ['another form', { body: '{"hits": []}' }],
    ['a redirect', { status: 302, body: '{}' }],
  ])('fails on %s', async (_case, answer) => {
    const { search } = await open(() => answer);
    await expect(search('valve')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test('ends with its signal', async () => {
    const { search } = await open(() => null);
    await expect(search('valve', AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
