import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Endpoints } from '../../../deploy/local/endpoints.js';
import { ownIdentity } from '../../../deploy/local/process-identity.js';
import { RunRecord } from '../../../deploy/local/run-record.js';
import { temporaryFolder } from './temporary-folder.js';

const service = { kind: 'service', kept: false, ports: [27017] } as const;

test('endpoints.json is for the owner only, of the agreed shape, and goes with the last process', async () => {
  const local = temporaryFolder();
  const record = new RunRecord(local);
  await record.change((state) => {
    state.processes['mongodb'] = { ...ownIdentity(), ...service };
    state.processes['build-temporal'] = { ...ownIdentity(), ...service, kind: 'tool' };
    state.addresses.mongodb = 'mongodb://127.0.0.1:27017';
  });
  const file = join(local, 'endpoints.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(local, 'secrets.json')).mode & 0o777).toBe(0o600);
  const endpoints = JSON.parse(readFileSync(file, 'utf8')) as Endpoints;
  expect(endpoints).toEqual({
    gateway: null,
    temporal: null,
    temporal_ui: null,
    mongodb: 'mongodb://127.0.0.1:27017',
    opensearch: null,
    redis: null,
    ollama: null,
    capi: null,
    auth_token: expect.stringMatching(/^[\w-]{32}$/),
    dashboard_key: expect.stringMatching(/^[\w-]{32}$/),
    pids: { mongodb: process.pid },
  });

  await record.change((state) => void (state.addresses.auth_token = 'chosen by the user'));
  const later = JSON.parse(readFileSync(file, 'utf8')) as Endpoints;
  expect(later.auth_token).toBe('chosen by the user');
  expect(later.dashboard_key).toBe(endpoints.dashboard_key);

  await record.change((state) => void (state.processes = {}));
  expect(existsSync(file)).toBe(false);
});

test('the dead are not in the record, whoever has their pid now', async () => {
  const record = new RunRecord(temporaryFolder());
  await record.change((state) => {
    state.commands.push({ pid: process.pid, started: 'another time', command: 'start' });
    state.processes['temporal'] = { pid: process.pid, started: 'another time', ...service };
    state.processes['mongodb'] = { ...ownIdentity(), ...service };
  });
  expect(record.read().commands).toEqual([]);
  expect(Object.keys(record.read().processes)).toEqual(['mongodb']);
});

test('changes made at the same time are all kept', async () => {
  const record = new RunRecord(temporaryFolder());
  const names = Array.from({ length: 20 }, (_, at) => `service-${at}`);
  const add = (name: string) =>
    record.change(({ processes }) => void (processes[name] = { ...ownIdentity(), ...service }));
  await Promise.all(names.map(add));
  expect(Object.keys(record.read().processes).sort()).toEqual(names.sort());
});
