import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

let proxy: Proxy;

beforeAll(async () => {
  proxy = await startProxy({
    now: () => new Date('2026-11-21T08:00:00.000Z'),
    rules: [
      { name: 'bans', filter: { field: 'decisions[].type', op: 'eq', value: 'ban' }, watchers: ['paris*'] },
      { name: 'place', filter: { field: 'geo.city', op: 'eq', value: 'Lille' } },
      { name: 'off', enabled: false, filter: { field: 'scenario', op: 'not_empty' } },
    ],
    geo: (address) =>
      address === '203.0.113.9'
        ? {
            countryCode: 'FR',
            countryName: 'France',
            city: 'Lille',
            region: null,
            latitude: 50,
            longitude: 3,
            timezone: null,
          }
        : null,
  });
  await proxy.push([sampleSignal(1), sampleSignal(9)], { token: mintToken('paris1').token });
  await proxy.push([sampleSignal(1), sampleSignal(9), sampleSignal(2, { scenario: 'x/other' })], {
    token: mintToken('lyon').token,
  });
});
afterAll(() => proxy.close());

async function preview(body: unknown) {
  const response = await fetch(`${proxy.url}/api/filters/preview`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'dashboard-0123456789abcdef' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('rules with a scope, list elements and places', () => {
  it('hold back what they say, and each alert knows which rules were evaluated', async () => {
    const alerts = (await (await proxy.ask('/api/alerts')).json()) as {
      id: number;
      filterReasons: string | null;
      geoCity: string | null;
    }[];
    expect(alerts.map(({ id, filterReasons, geoCity }) => [id, filterReasons, geoCity])).toEqual([
      [5, null, null],
      [4, '["geo.city equals \\"Lille\\""]', 'Lille'],
      [3, null, null],
      [2, '["decisions[].type equals \\"ban\\"","geo.city equals \\"Lille\\""]', 'Lille'],
      [1, '["decisions[].type equals \\"ban\\""]', null],
    ]);
  });
});

describe('GET /api/filters', () => {
  it('asks for the key', async () => {
    expect((await proxy.ask('/api/filters', { key: null })).status).toBe(401);
  });

  it('shows each rule and what it matched', async () => {
    const response = await proxy.ask('/api/filters');
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        mode: 'block',
        version: 'version-1',
        loadedAt: '1970-01-01T00:00:00.000Z',
        faults: [],
        rules: [
          {
            name: 'bans',
            description: null,
            enabled: true,
            watchers: ['paris*'],
            file: null,
            filter: { field: 'decisions[].type', op: 'eq', value: 'ban' },
            matches: 2,
            lastMatch: '2026-11-21T08:00:00.000Z',
          },
          expect.objectContaining({ name: 'place', watchers: null, matches: 2 }),
          expect.objectContaining({ name: 'off', enabled: false, matches: 0, lastMatch: null }),
        ],
      },
    ]);
  });
});

describe('POST /api/filters/preview', () => {
  it('asks for the key', async () => {
    expect((await proxy.ask('/api/filters/preview', { method: 'POST', key: null })).status).toBe(401);
  });

  it('tries a rule on what is stored, and changes nothing', async () => {
    const { status, body } = await preview({
      filter: { field: 'scenario', op: 'ends_with', value: 'ssh-bf' },
    });
    expect([status, body]).toEqual([
      200,
      {
        scanned: 5,
        complete: true,
        matched: 4,
        newlyMatched: 1,
        notes: [],
        samples: [4, 3, 2, 1].map((id) =>
          expect.objectContaining({
            id,
            reason: 'scenario ends with "ssh-bf"',
            scenario: 'crowdsecurity/ssh-bf',
            ruleSet: 'version-1',
          }),
        ),
      },
    ]);
    expect((await proxy.stores.statistics.ruleMatches()).has('preview')).toBe(false);
  });

  it('sees the sender and the place as the rule would have', async () => {
    const filter = { op: 'and', conditions: [{ field: 'geo.city', op: 'not_empty' }] };
    expect((await preview({ filter, watchers: 'lyon' })).body).toMatchObject({
      matched: 1,
      samples: [{ id: 4, watcher: 'lyon' }],
    });
  });

  it('looks at so many only', async () => {
    const { body } = await preview({ filter: { field: 'scenario', op: 'not_empty' }, limit: 2 });
    expect(body).toMatchObject({ scanned: 2, matched: 2, samples: [{ id: 5 }, { id: 4 }] });
  });

  it.each([
    [{}, /^body\/filter/],
    [{ filter: { field: 'a', op: 'nope' } }, /^body\/filter\/op the operator "nope" is not known$/],
    [{ filter: { field: 'a', op: 'regex', value: '(' } }, /^body\/filter\/value regex cannot use/],
    [{ filter: { field: 'a', op: 'empty' }, watchers: [] }, /^body\/watchers "watchers" must be/],
    [{ filter: { field: 'a', op: 'empty' }, limit: 0 }, /^body\/limit must be >= 1$/],
    [{ filter: { field: 'a', op: 'empty' }, limit: 10_001 }, /^body\/limit must be <= 10000$/],
    ['[', /./],
  ])('refuses %j', async (body, error) => {
    const answer = await preview(body);
    expect(answer).toEqual({ status: 400, body: { error: expect.stringMatching(error) } });
  });

  it('tells of a field that is not known and that no signal has', async () => {
    const notesOf = async (filter: object) => (await preview({ filter })).body['notes'];
    const filter = {
      op: 'or',
      conditions: [
        { op: 'not', condition: { field: 'sorce.ip', op: 'not_empty' } },
        { field: 'decisions.type', op: 'eq', value: 'ban' },
        { field: 'geo.country', op: 'eq', value: 'FR' },
        { field: 'decisions[].type', op: 'eq', value: 'ban' },
        { field: 'events_count', op: 'gt', value: 3 },
      ],
    };
    const absent = 'is not known as a field, and none of the 5 signals has it';
    expect(await notesOf(filter)).toEqual([
      `body/filter/conditions/0/condition/field "sorce.ip" ${absent}`,
      `body/filter/conditions/1/field "decisions.type" ${absent}`,
      `body/filter/conditions/2/field "geo.country" ${absent}`,
    ]);
    // One that no release of ours has heard of is fine where signals have it.
    await proxy.push([{ ...sampleSignal(9), sorce: { ip: '192.0.2.1' } }]);
    expect(await notesOf({ field: 'sorce.ip', op: 'not_empty' })).toEqual([]);
  });

  it('tells of parts that do nothing', async () => {
    const { body } = await preview({ filter: { field: 'source.ip', op: 'cidr', value: ['x'] } });
    expect(body).toMatchObject({ matched: 0, notes: [expect.stringContaining('never matches')] });
  });
});
