import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openRuleRegistry } from '../../../../activities/signals/rules/rule-registry.js';
import type { RuleRegistry } from '../../../../activities/signals/rules/rule-registry.js';
import type { SavedRuleStore } from '../../../../activities/ports/saved-rules.js';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { until } from '../../../support/until.js';
import type { LooseBody } from '../../support/loose-body.js';
import { DASHBOARD_KEY, startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

const SAVED = '/api/filters/saved';

let folder: string;
let proxy: Proxy;
let store: SavedRuleStore;
/** That of the gateway, and of another one over the same store. */
const registries: RuleRegistry[] = [];

function ruleText(name: string, scenario = 'x/y'): string {
  return `name: ${name}\nfilter: { field: scenario, op: eq, value: ${scenario} }\n`;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-saved-rules-'));
  await writeFile(join(folder, 'of-file.yaml'), ruleText('of-file', 'file'));
  let opened: Promise<RuleRegistry> | undefined;
  proxy = await startProxy({
    registry(saved) {
      store = saved;
      opened = open();
      return {
        current: () => registries[0]!.current(),
        reload: () => registries[0]!.reload(),
      };
    },
  });
  await opened;
});
afterEach(async () => {
  await Promise.all(registries.splice(0).map((registry) => registry.close()));
  await proxy.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(): Promise<RuleRegistry> {
  const registry = await openRuleRegistry({
    directories: [folder],
    readMain: async () => ({ mode: 'block', rules: [] }),
    saved: store,
  });
  registries.push(registry);
  return registry;
}

async function ask(
  method: string,
  path: string,
  { body, ifMatch, key = DASHBOARD_KEY }: { body?: unknown; ifMatch?: string; key?: string } = {},
): Promise<{ status: number; etag: string | null; body: LooseBody }> {
  const response = await fetch(`${proxy.url}${path}`, {
    method,
    headers: {
      'x-api-key': key,
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    body: (await response.json()) as LooseBody,
  };
}

function save(texts: string[], ifMatch = '"0"', more: object = {}) {
  return ask('PUT', SAVED, { body: { rules: texts.map((text) => ({ text })), ...more }, ifMatch });
}

async function keyOf(scope: string): Promise<string> {
  return (await ask('POST', '/api/keys', { body: { name: scope, scopes: [scope] } })).body.key;
}

async function inForce(): Promise<[string, string | null][]> {
  const { body } = await ask('GET', '/api/filters');
  return body.rules.map(({ name, file }: { name: string; file: string | null }) => [name, file]);
}

describe('GET /api/filters/saved', () => {
  it('answers none at first, and what was saved afterwards', async () => {
    expect(await ask('GET', SAVED)).toEqual({
      status: 200,
      etag: '"0"',
      body: { version: 0, savedAt: null, savedBy: null, note: null, rules: [] },
    });
    await save([ruleText('one')], '"0"', { note: 'first' });
    expect(await ask('GET', SAVED, { key: await keyOf('read') })).toEqual({
      status: 200,
      etag: '"1"',
      body: {
        version: 1,
        savedAt: expect.any(String),
        savedBy: 'DASHBOARD_API_KEY',
        note: 'first',
        rules: [{ text: ruleText('one') }],
      },
    });
  });
});

describe('PUT /api/filters/saved', () => {
  it('is in force at once here, and soon on another gateway; files hold beside it', async () => {
    const other = await open();
    expect((await save([ruleText('saved')])).status).toBe(200);
    expect(await inForce()).toEqual([
      ['of-file', join(folder, 'of-file.yaml')],
      ['saved', null],
    ]);
    await until('the other gateway has it', async () => other.current().rules.length === 2);
    expect(other.current().version).toBe(registries[0]!.current().version);
    await proxy.push([sampleSignal(1, { scenario: 'x/y' })], { token: mintToken('w').token });
    const alerts = (await (await proxy.ask('/api/alerts')).json()) as { filtered: boolean }[];
    expect(alerts.map(({ filtered }) => filtered)).toEqual([true]);
  });

  it('takes the place of the rule of a file with the same name, until it is gone', async () => {
    await save([ruleText('of-file', 'other')]);
    expect(await inForce()).toEqual([['of-file', null]]);
    await save([], '"1"');
    expect(await inForce()).toEqual([['of-file', join(folder, 'of-file.yaml')]]);
  });

  it('is for keys that write', async () => {
    const body = { rules: [] };
    expect((await ask('PUT', SAVED, { body, ifMatch: '"0"', key: await keyOf('read') })).status).toBe(403);
    const written = await ask('PUT', SAVED, { body, ifMatch: '"0"', key: await keyOf('write') });
    expect([written.status, written.body.savedBy]).toEqual([200, 'write']);
  });

  it('refuses a change that does not name the present version', async () => {
    await save([ruleText('one')]);
    expect((await save([], '"0"')).status).toBe(412);
    expect((await save([], '*')).status).toBe(412);
    expect((await ask('PUT', SAVED, { body: { rules: [] } })).status).toBe(428);
    const both = await Promise.all(['a', 'b'].map((name) => save([ruleText(name)], '"1"')));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it('refuses what is no rule, with the place, and changes nothing', async () => {
    const { status, body } = await save([
      ruleText('one'),
      'name: two\nfilter: { field: scenario, op: strange }\n',
      ruleText('one'),
    ]);
    expect(status).toBe(400);
    expect(body.error).toMatch(/^rule 2, line 2: .+; rule 3: another one is named "one"$/);
    expect((await ask('GET', SAVED)).body.version).toBe(0);
  });

  it('refuses one that holds itself, and takes others afterwards', async () => {
    const text = 'name: x\nfilter: &f { op: empty, field: decisions, value: *f }\n';
    const { status, body } = await save([text]);
    expect(status).toBe(400);
    expect(body.error).toMatch(/^rule 1, line 2: /);
    expect((await ask('POST', '/api/filters/check', { body: { text } })).body.rule).toBeNull();
    expect((await save([ruleText('one')])).status).toBe(200);
  });

  it.each([
    { rules: [{ text: 'x'.repeat(64_001) }] },
    { rules: Array.from({ length: 201 }, (_, index) => ({ text: ruleText(`r${index}`) })) },
    { rules: [{ text: 1 }] },
    { rules: 'x' },
    { rules: [], more: 1 },
    {},
  ])('answers 400 to %#', async (body) => {
    expect((await ask('PUT', SAVED, { body, ifMatch: '"0"' })).status).toBe(400);
  });
});

describe('GET /api/filters/saved/versions', () => {
  it('tells who saved what when, and answers each', async () => {
    await save([ruleText('one')]);
    await save([ruleText('one'), ruleText('two')], '"1"', { note: ' more ' });
    const { body } = await ask('GET', `${SAVED}/versions`);
    const who = { savedAt: expect.any(String), savedBy: 'DASHBOARD_API_KEY' };
    expect(body.versions).toEqual([
      { version: 2, ...who, note: 'more', rules: 2 },
      { version: 1, ...who, note: null, rules: 1 },
    ]);
    const first = await ask('GET', `${SAVED}/versions/1`);
    expect([first.status, first.body.rules]).toEqual([200, [{ text: ruleText('one') }]]);
    for (const [version, status] of [
      ['0', 404],
      ['3', 404],
      ['x', 400],
    ] as const)
      expect((await ask('GET', `${SAVED}/versions/${version}`)).status).toBe(status);
  });
});

describe('POST /api/filters/saved/rollback', () => {
  it('brings an earlier version back as a new one', async () => {
    await save([ruleText('one')]);
    await save([ruleText('two')], '"1"');
    const back = (version: number, ifMatch?: string) =>
      ask('POST', `${SAVED}/rollback`, { body: { version }, ...(ifMatch !== undefined && { ifMatch }) });
    expect((await back(1)).status).toBe(428);
    expect((await back(1, '"1"')).status).toBe(412);
    expect((await back(7, '"2"')).status).toBe(404);
    expect((await back(1, '"2"')).body).toMatchObject({
      version: 3,
      note: 'As version 1',
      rules: [{ text: ruleText('one') }],
    });
    expect((await inForce()).map(([name]) => name)).toEqual(['of-file', 'one']);
  });
});

describe('a pattern that cannot be used', () => {
  const text = `name: a\nfilter: { op: not, condition: { op: regex, field: scenario, value: '(?!x)' } }\n`;

  it('matches nothing in a file: the rule holds signals back, and the pattern is named', async () => {
    await writeFile(join(folder, 'of-file.yaml'), text);
    await registries[0]!.reload();
    await proxy.push([sampleSignal(1)], { token: mintToken('paris1').token });
    const [alert] = (await (await proxy.ask('/api/alerts')).json()) as { filterReasons: string }[];
    expect(alert?.filterReasons).toBe('["NOT(condition)"]');
    expect((await ask('GET', '/api/filters')).body.faults).toEqual([
      {
        file: join(folder, 'of-file.yaml'),
        message: expect.stringMatching(/^line 2: regex cannot use "\(\?!x\)", which never matches: it /),
      },
    ]);
  });

  it('is refused in a rule that is saved', async () => {
    expect((await save([text])).status).toBe(400);
    expect((await ask('POST', '/api/filters/check', { body: { text } })).body.rule).toBeNull();
  });
});

describe('POST /api/filters/check', () => {
  const check = async (text: string) =>
    (await ask('POST', '/api/filters/check', { body: { text }, key: await keyOf('read') })).body;

  it('answers the rule, and which one of a file it would replace', async () => {
    expect(await check(ruleText('new'))).toEqual({
      rule: {
        name: 'new',
        enabled: true,
        watchers: null,
        filter: { field: 'scenario', op: 'eq', value: 'x/y' },
        replaces: null,
      },
      problems: [],
    });
    const body = await ask('POST', '/api/filters/check', { body: { text: ruleText('of-file') } });
    expect(body.body.rule.replaces).toBe(join(folder, 'of-file.yaml'));
  });

  it('answers the line of each fault', async () => {
    const body = await check('name: a\nfilter:\n  op: strange\n  field: x\n');
    expect(body).toEqual({ rule: null, problems: [expect.stringMatching(/^line 3: /)] });
  });
});
