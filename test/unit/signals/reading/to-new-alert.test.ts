import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readSignals } from '../../../../activities/signals/reading/read-signals.js';
import { toNewAlert } from '../../../../activities/signals/reading/to-new-alert.js';
import type { ReceivedSignal } from '../../../../activities/signals/reading/to-new-alert.js';
import { compileForTest } from '../rules/compile-for-test.js';

const RECEIVED_AT = new Date('2026-03-01T12:00:00.000Z');
const UUID = '0b6a1c1e-8f0e-4c53-9d0b-3d9e4a6f0c11';

function take(item: unknown, overrides: Partial<ReceivedSignal> = {}) {
  const raw = typeof item === 'string' ? item : JSON.stringify(item);
  const [read] = readSignals(`[${raw}]`).items;
  if (read === undefined) throw new Error('no item');
  return toNewAlert({
    item: read,
    watcher: 'w',
    version: 'v3',
    receivedAt: RECEIVED_AT,
    rules: [],
    mode: 'block',
    forwarding: true,
    ...overrides,
  });
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

describe('fields', () => {
  test('a full signal of 1.7', () => {
    const signal = {
      uuid: UUID,
      machine_id: 'agent-1',
      scenario: 'crowdsecurity/ssh-bf',
      scenario_hash: 'ab12',
      scenario_version: '0.3',
      scenario_trust: 'certified',
      message: 'Ip 203.0.113.7 performed ssh-bf',
      start_at: '2026-03-01T11:59:00.123456789Z',
      stop_at: '2026-03-01T12:00:00Z',
      created_at: '2026-03-01T12:00:01Z',
      kind: 'crowdsec',
      context: [{ key: 'user', value: 'root' }],
      decisions: [{ origin: 'crowdsec', type: 'ban', scenario: 'crowdsecurity/ssh-bf', duration: '4h' }],
      source: {
        scope: 'Ip',
        value: '203.0.113.7',
        ip: '203.0.113.7',
        range: '203.0.113.0/24',
        as_number: '64496',
        as_name: 'Example',
        cn: 'FR',
        latitude: 0,
        longitude: -0.5,
      },
    };
    const alert = take(signal);
    expect(alert).toEqual({
      identity: `uuid:${UUID}`,
      watcher: 'w',
      version: 'v3',
      state: 'waiting',
      reasons: [],
      matched: [],
      raw: JSON.stringify(signal),
      receivedAt: RECEIVED_AT,
      decisions: [{ scenario: 'crowdsecurity/ssh-bf', category: '1-24h', count: 1 }],
      fields: {
        uuid: UUID,
        machineId: 'agent-1',
        scenario: 'crowdsecurity/ssh-bf',
        scenarioHash: 'ab12',
        scenarioVersion: '0.3',
        message: 'Ip 203.0.113.7 performed ssh-bf',
        eventsCount: null,
        capacity: null,
        leakspeed: null,
        startAt: '2026-03-01T11:59:00.123456789Z',
        stopAt: '2026-03-01T12:00:00Z',
        createdAt: '2026-03-01T12:00:01Z',
        simulated: false,
        remediation: false,
        hasDecisions: true,
        replicated: false,
        sourceScope: 'Ip',
        sourceValue: '203.0.113.7',
        sourceIp: '203.0.113.7',
        sourceRange: '203.0.113.0/24',
        sourceAsNumber: '64496',
        sourceAsName: 'Example',
        sourceCn: 'FR',
        geoCountryCode: 'FR',
        geoCountryName: null,
        geoCity: null,
        geoRegion: null,
        geoLatitude: 0,
        geoLongitude: -0.5,
        geoTimezone: null,
        geoIsp: null,
        geoOrg: null,
        localAudit: false,
        actor: null,
      },
    });
  });

  test('what is absent or of another type is null, the flags are false', () => {
    const { fields } = take({
      scenario: 'x',
      source: { ip: 7, latitude: '1', cn: '' },
      message: 5,
      events_count: 3,
      capacity: 1.5,
      simulated: 'true',
      remediation: true,
      decisions: [],
    });
    expect(fields).toMatchObject({
      uuid: null,
      machineId: null,
      message: null,
      eventsCount: 3,
      capacity: null,
      simulated: false,
      remediation: true,
      hasDecisions: false,
      sourceIp: null,
      geoLatitude: null,
      sourceCn: '',
      geoCountryCode: null,
    });
  });

  test('long texts are cut in their columns, never in what goes out', () => {
    const signal = { scenario: 's'.repeat(10_000), source: {}, machine_id: 'm'.repeat(300) };
    const alert = take(signal);
    expect(alert.fields.scenario).toHaveLength(4_096);
    expect(alert.fields.machineId).toHaveLength(255);
    expect(alert.raw).toBe(JSON.stringify(signal));
  });
});

describe('identity', () => {
  const signal = { scenario: 'x', source: { ip: '203.0.113.7' } };

  test('is the uuid, whatever its case', () => {
    expect(take({ ...signal, uuid: UUID.toUpperCase() }).identity).toBe(`uuid:${UUID}`);
  });

  test.each([
    undefined,
    null,
    5,
    '',
    'short',
    'with blanks in it',
    `x\u0000${UUID}`,
    'a'.repeat(129),
    '00000000-0000-0000-0000-000000000000',
  ])('is the digest when the uuid is %j', (uuid) => {
    const text = JSON.stringify({ ...signal, uuid });
    expect(take(text).identity).toBe(digestOf(text));
  });

  test('does not depend on blanks, but on every number', () => {
    const of = (text: string) => take(text).identity;
    expect(of('{"scenario": "x", "source": { }, "n": 1.0}')).toBe(of('{"scenario":"x","source":{},"n":1.0}'));
    expect(of('{"scenario":"x","source":{},"n":1.0}')).not.toBe(of('{"scenario":"x","source":{},"n":1}'));
    expect(of('{"scenario":"x y","source":{}}')).not.toBe(of('{"scenario":"xy","source":{}}'));
  });
});

describe('state', () => {
  const signal = { scenario: 'x', source: { ip: '10.0.0.1' } };
  const { rule } = compileForTest({ field: 'source.ip', op: 'cidr', value: '10.0.0.0/8' });
  const rules = rule === null ? [] : [rule];
  const looped = { ...signal, decisions: [{ origin: 'crowdsieve-replication' }] };

  test('filtered by a rule, in block mode', () => {
    expect(take(signal, { rules })).toMatchObject({
      state: 'filtered',
      reasons: ['source.ip in CIDR 10.0.0.0/8'],
    });
  });

  test('in allow mode a match passes and keeps its reasons, and the lack of one holds back', () => {
    expect(take(signal, { rules, mode: 'allow' })).toMatchObject({
      state: 'waiting',
      reasons: ['source.ip in CIDR 10.0.0.0/8'],
    });
    expect(take({ scenario: 'x', source: {} }, { rules, mode: 'allow' })).toMatchObject({
      state: 'filtered',
      reasons: [],
    });
  });

  test('withheld by the loop guard, unless a rule filters it first', () => {
    expect(take(looped)).toMatchObject({
      state: 'withheld',
      stateReason: expect.stringMatching(/^loop guard/),
    });
    expect(take(looped, { rules }).state).toBe('filtered');
  });

  test('withheld when forwarding is off', () => {
    expect(take(signal, { forwarding: false })).toMatchObject({
      state: 'withheld',
      stateReason: 'forwarding is disabled',
    });
  });
});

describe('quarantine', () => {
  test.each([
    ['null', 'the item is not an object'],
    ['[]', 'the item is not an object'],
    ['"x"', 'the item is not an object'],
    ['{"source":{}}', 'the item has no "scenario"'],
    ['{"scenario":"","source":{}}', 'the item has no "scenario"'],
    ['{"scenario":5,"source":{}}', 'the item has no "scenario"'],
    ['{"scenario":"x"}', 'the item has no "source" object'],
    ['{"scenario":"x","source":null}', 'the item has no "source" object'],
    ['{"scenario":"x","source":[]}', 'the item has no "source" object'],
  ])('%s', (raw, stateReason) => {
    expect(take(raw)).toMatchObject({ state: 'quarantined', stateReason, reasons: [], raw });
  });

  test('is not evaluated, and its uuid stays free for the mended item', () => {
    const text = JSON.stringify({ uuid: UUID, source: {} });
    expect(take(text, { mode: 'allow' })).toMatchObject({ state: 'quarantined', identity: digestOf(text) });
  });

  test('an item that is too deep is kept whole', () => {
    const raw = `{"scenario":"x","source":{},"x":${'['.repeat(70)}${']'.repeat(70)}}`;
    expect(take(raw)).toMatchObject({
      state: 'quarantined',
      stateReason: 'the item is nested 71 levels deep, more than 64',
      raw,
    });
  });

  test('of an item that is too large a note is kept that says so', () => {
    const item = { scenario: 'x', source: {}, message: '😀'.repeat(400_000) };
    const alert = take(item);
    const raw = JSON.stringify(item);
    expect(alert).toMatchObject({ state: 'quarantined', noteOnly: true, identity: digestOf(raw) });
    const note = JSON.parse(alert.raw) as { bytes: number; sha256: string; beginning: string };
    expect(note.bytes).toBe(Buffer.byteLength(raw));
    expect(`sha256:${note.sha256}`).toBe(digestOf(raw));
    expect(raw.startsWith(note.beginning)).toBe(true);
    expect(note.beginning.length).toBeGreaterThan(4_000);
    expect(Buffer.from(note.beginning).toString()).toBe(note.beginning);
    expect(alert.raw.length).toBeLessThan(6_000);
  });
});
