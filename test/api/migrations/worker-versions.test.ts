import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

const SINCE = new Date('2026-11-24T08:00:00Z');
const LIST = '/admin/worker-versions';

let gateway: Gateway;
let ada: string;
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada').token;
  gateway.workflows.state.versions = [
    { buildId: '2.2', state: 'current', since: SINCE },
    { buildId: '2.3', state: 'waiting', since: new Date(SINCE.getTime() + 1000) },
  ];
});
afterEach(() => gateway.close());

async function ask(method: 'GET' | 'POST', path: string, token: string | null = ADMIN_TOKEN) {
  const response = await gateway.call(method, path, { token });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}

function states(): string[] {
  return gateway.workflows.state.versions.map(({ state }) => state);
}

describe('GET /admin/worker-versions', () => {
  it('lists releases, the newest first', async () => {
    expect(await ask('GET', LIST)).toEqual({
      status: 200,
      body: {
        versions: [
          { build_id: '2.3', state: 'waiting', since: '2026-11-24T08:00:01.000Z' },
          { build_id: '2.2', state: 'current', since: SINCE.toISOString() },
        ],
      },
    });
  });

  it('is for administrators', async () => {
    expect((await ask('GET', LIST, ada)).status).toBe(403);
    expect((await ask('GET', LIST, null)).status).toBe(403);
  });

  it('is 503 while Temporal is away', async () => {
    gateway.workflows.state.away = true;
    expect((await ask('GET', LIST)).status).toBe(503);
  });
});

describe('POST /admin/worker-versions/{build_id}/promote', () => {
  it('lets a release take over', async () => {
    expect((await ask('POST', `${LIST}/2.3/promote`)).status).toBe(204);
    expect(states()).toEqual(['draining', 'current']);
  });

  it('is for administrators', async () => {
    expect((await ask('POST', `${LIST}/2.3/promote`, ada)).status).toBe(403);
    expect((await ask('POST', `${LIST}/2.3/promote`, null)).status).toBe(403);
    expect(states()).toEqual(['current', 'waiting']);
  });

  it('refuses a release that no worker is of, and an id that is none', async () => {
    expect((await ask('POST', `${LIST}/9.9/promote`)).status).toBe(404);
    expect((await ask('POST', `${LIST}/${'9'.repeat(101)}/promote`)).status).toBe(422);
    expect(states()).toEqual(['current', 'waiting']);
  });
});
