import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { connectMongo } from '../../../activities/stores/mongo/connect-mongo.js';
import { json, route } from '../../../api/http/route.js';
import { DONE_EVENT, dataEvent, errorEvent } from '../../../api/http/stream-events.js';
import { forgetRun } from '../../../deploy/local/forget-run.js';
import { sampleResult } from '../../contracts/retrieval/evaluation-samples.js';
import { AppError } from '../../../schemas/app-error.js';
import type { MigrationRun } from '../../../schemas/migrations/migrations.js';
import { runTamis, startTamis, wordsOf } from '../../support/run-tamis.js';
import { until } from '../../support/until.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import { DASHBOARD_KEY, startProxy } from '../support/start-proxy.js';
import type { Proxy } from '../support/start-proxy.js';
import { freePort } from '../../support/free-port.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

// Each command is a process that loads its code anew.
jest.setTimeout(180_000);

let gateway: Proxy;
beforeEach(async () => {
  gateway = await startProxy();
});
afterEach(() => gateway.close());

function letIn() {
  return { TAMIS_URL: gateway.url, TAMIS_TOKEN: ADMIN_TOKEN, TAMIS_KEY: DASHBOARD_KEY };
}

/** As an operator with everything in the environment; a line as one types it. */
function tamis(line: string, env: Record<string, string> = letIn()) {
  return runTamis(wordsOf(line), { env });
}

async function done(line: string): Promise<string> {
  const { code, out, err } = await tamis(line);
  expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
  return out;
}

async function parsed(line: string) {
  return JSON.parse(await done(`${line} --json`));
}

function begin(runId: string, change: Partial<Pick<MigrationRun, 'mode' | 'started_by'>> = {}) {
  return gateway.migrations.store.insert({
    run_id: runId,
    name: 'vector-store',
    mode: 'run',
    unit: 'chunks',
    pages_per_second: null,
    started_by: '1',
    ...change,
  });
}

function report(runId: string, done: number, phase = 'copying') {
  return gateway.migrations.store.report(runId, {
    phase,
    done,
    total: 9_000,
    figures: { copied: done },
    pages_per_second: null,
  });
}

function finish(runId: string, error: MigrationRun['error'] = null) {
  return gateway.migrations.store.finish(runId, { state: error === null ? 'completed' : 'failed', error });
}

/** The commands in the table of docs/operations.md, those of one word left out. */
function documented(): string[] {
  return readFileSync('docs/operations.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `tamis '))
    .flatMap((line) => {
      const named = [...line.split(' | ')[0]!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!.split(' '));
      const [, group, first] = named[0]!;
      return [first, ...named.slice(1).map(([sub]) => sub)].filter(Boolean).map((sub) => `${group} ${sub}`);
    })
    .sort();
}

describe('help and wrong use', () => {
  it('says how every command is used', async () => {
    const top = await tamis('--help', {});
    expect(top.code).toBe(0);
    const groups = [...top.out.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name!);
    expect(groups).toEqual([
      'migrate',
      'indexes',
      'swap',
      'eval',
      'backup',
      'import',
      'schedule',
      'reconcile',
      'check',
      'upgrade',
      'users',
      'keys',
      'forwarding',
      'config',
    ]);
    const helps = await Promise.all(groups.map((group) => tamis(`${group} --help`, {})));
    const lines = helps.flatMap(({ code, out }, at) => {
      expect(code).toBe(0);
      return [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+) /gm)]
        .map(([, name]) => name!)
        .filter((name) => name !== 'help')
        .map((name) => `${groups[at]} ${name}`);
    });
    expect(lines).toHaveLength(59);
    expect(documented()).toEqual(lines.toSorted());
    for (let at = 0; at < lines.length; at += 7)
      await Promise.all(
        lines.slice(at, at + 7).map(async (line) => {
          const { code, out, err } = await tamis(`${line} --help`, {});
          expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
          expect(out).toContain(`Usage: tamis ${line}`);
          expect(out).toContain('--json');
        }),
      );
  });

  it.each([
    ['', ''],
    ['migrate', ''],
    ['migrat list', "unknown command 'migrat'"],
    ['migrate run', "missing required argument 'name'"],
    ['migrate run vector-store more', 'too many arguments'],
    ['migrate run vector-store --fast', "unknown option '--fast'"],
    ['migrate run vector-store --pages-per-second 0', 'It must be a number above 0'],
    ['migrate pace vector-store quick', 'It must be a number above 0'],
    ['schedule set reconcile', "required option '--cron <line>' not specified"],
    ['users delete ada --yes', 'It must be a whole number from 1'],
    ['users delete 7', 'Add --yes'],
    ['schedule remove vector-store', 'Add --yes'],
    ['keys create ci --scope root', 'Allowed choices are read, write, admin'],
    ['swap start --to other', 'Name a partition'],
    ['swap start mill --to other --min-overlap 2', 'It must be a number from 0 to 1'],
    ['eval upload mill main questions.txt', 'must be named'],
    ['eval upload mill main missing.csv', 'cannot be read'],
    ['eval run mill main --top-k 0', 'It must be a whole number from 1'],
    ['migrate list --url nowhere', 'nowhere is no address'],
    ['migrate list --url ftp://127.0.0.1', 'no address of HTTP'],
  ])('tamis %s is wrong use', async (line, said) => {
    const { code, out, err } = await tamis(line);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain(said === '' ? 'Usage: tamis' : said);
  });

  it.each([
    ['migrat list', "unknown command 'migrat'"],
    ['migrate', 'A command is missing.'],
    ['migrate run', "missing required argument 'name'"],
    ['users delete 7', 'Add --yes'],
    ['migrate run everything', 'name: Invalid option'],
  ])('tamis %s --json says so in JSON', async (line, said) => {
    const { code, out, err } = await tamis(`${line} --json`);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(JSON.parse(err)).toEqual({
      error: {
        message: expect.stringContaining(said),
        status: said.startsWith('name: ') ? 422 : null,
        exit_code: 2,
      },
    });
  });

  it('asks which gateway where none is named and none runs', async () => {
    const { code, err } = await tamis('migrate list', {});
    expect(code).toBe(2);
    expect(err).toContain('Which gateway?');
  });
});

describe('the gateway', () => {
  it('is the one that runs in the clone, whose secrets go to no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tamis-cli-local-'));
    writeFileSync(
      join(folder, 'endpoints.json'),
      JSON.stringify({ gateway: gateway.url, auth_token: ADMIN_TOKEN, dashboard_key: DASHBOARD_KEY }),
    );
    const local = { TAMIS_LOCAL_DIR: folder };
    expect((await tamis('users list', local)).code).toBe(0);
    expect((await tamis('keys list', local)).code).toBe(0);
    const seen: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      seen.push(headers.authorization, headers['x-api-key'] as string | undefined);
      response.writeHead(401).end('{"detail":"Unauthenticated"}');
    });
    const { url } = await listenOnLoopback(other);
    try {
      expect((await tamis(`users list --url ${url}`, local)).code).toBe(4);
      expect((await tamis(`keys list --url ${url}`, local)).code).toBe(4);
      expect(seen).toEqual([undefined, undefined, undefined, undefined]);
    } finally {
      await endServer(other);
    }
  });

  it('refuses whoever may not, and says what was not given', async () => {
    const { token } = gateway.addUser('ada');
    const none = await tamis('migrate list', { TAMIS_URL: gateway.url });
    expect(none).toMatchObject({ code: 4, out: '' });
    expect(none.err).toContain('no token was given');
    const keyless = await tamis('forwarding list', { TAMIS_URL: gateway.url });
    expect(keyless.code).toBe(4);
    expect(keyless.err).toContain('no key was given');
    const user = await tamis(`migrate list --token ${token}`);
    expect(user.code).toBe(4);
    expect(user.err).toContain('Admin privileges required');
    const json = await tamis(`migrate list --token ${token} --json`);
    expect(JSON.parse(json.err)).toEqual({
      error: { message: 'Refused: Admin privileges required', status: 403, exit_code: 4 },
    });
  });

  it('is said to be away when it is', async () => {
    const { code, err } = await tamis(`migrate list --url http://127.0.0.1:${await freePort()}`);
    expect(code).toBe(3);
    expect(err).toContain('cannot be reached');
  });
});

describe('tamis upgrade', () => {
  it('lists releases of workers and lets one take over', async () => {
    const none = await tamis('upgrade versions', letIn());
    expect([none.code, none.out]).toEqual([0, expect.stringContaining('Workers are not versioned')]);
    const since = new Date('2026-11-24T08:00:00Z');
    gateway.workflows.state.versions = [
      { buildId: '2.2', state: 'current', since },
      { buildId: '2.3', state: 'waiting', since: new Date(since.getTime() + 1000) },
    ];
    expect((await tamis('upgrade versions', letIn())).out).toMatch(/^2\.3 +waiting .*\n2\.2 +current /m);
    expect((await tamis('upgrade promote 2.3', letIn())).out).toContain('Workers of 2.3 take what is new.');
    expect(gateway.workflows.state.versions.map(({ state }) => state)).toEqual(['draining', 'current']);
    expect((await tamis('upgrade promote 9.9', letIn())).code).toBe(1);
    expect((await tamis('upgrade promote', letIn())).code).toBe(2);
  });
});

describe('tamis migrate', () => {
  it('lists and tells what is pending and what ran', async () => {
    gateway.migrations.state.pending = {
      what: 'the index is of schema 2',
      amount: 7_000,
      dark: ['searches'],
      obstacle: 'the disk is full',
    };
    await begin('first');
    await report('first', 4_500);
    await finish('first', { code: 'VDB_ERROR', message: 'the disk is full' });
    expect(await done('migrate list')).toMatch(
      /MIGRATION +PENDING +LAST RUN\nvector-store +7,000 chunks, blocked +failed \d{4}/,
    );
    const status = await done('migrate status vector-store');
    for (const line of [
      'pending: the index is of schema 2 (7,000 chunks)',
      'does not work until then: searches',
      'blocked: the disk is full',
      'run first: failed, copying, 4,500 of 9,000 chunks',
      'started by user 1',
      'copied 4,500',
      'VDB_ERROR: the disk is full',
    ])
      expect(status).toContain(line);
    expect(await parsed('migrate list')).toMatchObject({ migrations: [{ name: 'vector-store' }] });
    expect(await parsed('migrate status vector-store')).toMatchObject({ name: 'vector-store' });
    expect((await tamis('migrate status records')).code).toBe(1);
  });

  it('starts, steers and rolls back', async () => {
    const { run_id: runId } = await parsed('migrate run vector-store --pages-per-second 3');
    expect(await done('migrate run vector-store')).toContain('Watch it: tamis migrate watch vector-store');
    for (const word of ['pause', 'resume', 'cancel']) await done(`migrate ${word} vector-store`);
    await done('migrate pace vector-store 2.5');
    await done('migrate pace vector-store none');
    expect(gateway.workflows.migrated).toEqual([
      `run vector-store ${runId}`,
      expect.stringMatching(/^run vector-store /),
      'pause vector-store',
      'resume vector-store',
      'cancel vector-store',
      'pace vector-store 2.5',
      'pace vector-store null',
    ]);
    const rollback = await tamis('migrate rollback vector-store --yes');
    expect(rollback.code).toBe(1);
    expect(rollback.err).toContain('has no rollback');
  });

  it('shows the figures of a dry run', async () => {
    const run = startTamis(wordsOf('migrate run vector-store --dry-run'), { env: letIn() });
    await until('it was started', async () => gateway.workflows.migrated.length > 0);
    const runId = gateway.workflows.migrated[0]!.split(' ')[2]!;
    await begin(runId, { mode: 'dry_run' });
    await report(runId, 9_000, 'counting');
    await finish(runId);
    const { code, out } = await run.ended;
    expect(code).toBe(0);
    expect(out).toContain(`Started as ${runId}.`);
    expect(out).toContain('counting: 9,000 of 9,000 chunks (100 %)');
    expect(out).toContain(`dry run ${runId}: completed`);
    expect(out).toContain('copied 9,000');
  });

  it('verifies what a migration made, and fails where it is not so', async () => {
    const run = startTamis(wordsOf('migrate verify vector-store'), { env: letIn() });
    await until('it was started', async () => gateway.workflows.migrated.length > 0);
    const [mode, , runId] = gateway.workflows.migrated[0]!.split(' ');
    expect(mode).toBe('verify');
    await begin(runId!, { mode: 'verify' });
    await report(runId!, 9_000, 'checking files');
    await finish(runId!, { code: 'MIGRATION_NOT_VERIFIED', message: '7 chunks have no vector' });
    const { code, out, err } = await run.ended;
    expect(code).toBe(1);
    expect(out).toContain('MIGRATION_NOT_VERIFIED: 7 chunks have no vector');
    expect(err).toContain('The migration vector-store failed.');
  });

  it('watches a run in plain lines to its end', async () => {
    await begin('run');
    const run = startTamis(wordsOf('migrate watch vector-store'), { env: letIn() });
    await report('run', 3_000);
    await until('it is shown', async () => run.read().includes('copying: 3,000 of 9,000 chunks (33 %)'));
    await gateway.migrations.store.setPaused('run', true);
    await until('the pause is shown', async () => run.read().includes('paused, copying'));
    await gateway.migrations.store.setPaused('run', false);
    await report('run', 9_000, 'verifying');
    await finish('run', { code: 'MIGRATION_NOT_POSSIBLE', message: 'the counts differ' });
    const { code, out, err } = await run.ended;
    expect(code).toBe(1);
    expect(out).not.toContain('\x1b');
    expect(out).toContain('MIGRATION_NOT_POSSIBLE: the counts differ');
    expect(err).toContain('The migration vector-store failed.');
  });

  it('watches with a bar, its rate and the time left on a terminal', async () => {
    await begin('run');
    const run = startTamis(wordsOf('migrate watch vector-store'), { env: letIn(), columns: 120 });
    await report('run', 900);
    await until('a bar is shown', async () => /\[██░+\] copying: 900 of 9,000/.test(run.read()));
    let done = 900;
    await until('rate and time left are shown', async () => {
      await report('run', (done += 50));
      return /%\), [\d.,]+\/s, .+ left/.test(run.read());
    });
    await report('run', 9_000, 'verifying');
    await finish('run');
    const { code, out } = await run.ended;
    expect(code).toBe(0);
    expect(out).toContain('[████████████████████████] verifying: 9,000 of 9,000');
  });

  it('goes on watching when the stream breaks off', async () => {
    await begin('run');
    const run = startTamis(wordsOf('migrate watch vector-store'), { env: letIn() });
    await report('run', 3_000);
    await until('it is shown', async () => run.read().includes('3,000 of 9,000'));
    gateway.breakConnections();
    await report('run', 9_000, 'verifying');
    await finish('run');
    const { code, out } = await run.ended;
    expect(code).toBe(0);
    expect(out).toContain('the gateway is away; asking again');
    expect(out).toContain('run run: completed');
  });

  it('goes on watching when the gateway is told to stop', async () => {
    let streams = 0;
    const stopping = createServer((_request, response) => {
      streams += 1;
      const state = { run_id: 'run', state: 'running', phase: 'copying', done: 3_000, total: 9_000 };
      const stopped = new AppError('SERVICE_UNAVAILABLE', 'The gateway stops. Please ask again.');
      const ended = { ...state, state: 'completed', done: 9_000, error: null, figures: {} };
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end(
        streams === 1
          ? dataEvent(state) + errorEvent(stopped) + DONE_EVENT
          : dataEvent({ ...ended, name: 'vector-store', mode: 'run', unit: 'chunks' }) + DONE_EVENT,
      );
    });
    const { url } = await listenOnLoopback(stopping);
    try {
      const { code, out, err } = await tamis(`migrate watch vector-store --url ${url}`);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain('the gateway is away; asking again');
      expect(out).toContain('run run: completed');
      expect(streams).toBe(2);
    } finally {
      await endServer(stopping);
    }
  });

  it('leaves the run alone on Ctrl-C and says how to come back', async () => {
    await begin('run');
    const run = startTamis(wordsOf('migrate watch vector-store'), { env: letIn() });
    await report('run', 3_000);
    await until('it is shown', async () => run.read().includes('3,000'));
    // As a terminal and npx do it.
    run.child.kill('SIGINT');
    run.child.kill('SIGINT');
    const { code, err } = await run.ended;
    expect(code).toBe(130);
    expect(err).toContain('The migration goes on. Watch it again: tamis migrate watch vector-store');
    expect(gateway.workflows.migrated).toEqual([]);
    expect((await gateway.migrations.store.get('run'))?.state).toBe('running');
  });

  it('writes each step as a line of JSON where that is asked for', async () => {
    await begin('run');
    await report('run', 9_000);
    await finish('run');
    const out = await done('migrate watch vector-store --json');
    const steps = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as MigrationRun);
    expect(steps.at(-1)).toMatchObject({ run_id: 'run', state: 'completed', done: 9_000 });
  });

  it('says that nothing ever ran, and that one runs already', async () => {
    const { code, err } = await tamis('migrate watch vector-store');
    expect(code).toBe(1);
    expect(err).toContain('This migration never ran.');
    gateway.workflows.state.away = true;
    expect((await tamis('migrate pause vector-store')).code).toBe(1);
  });
});

describe('tamis indexes', () => {
  it('lists and drops', async () => {
    expect(await done('indexes list')).toMatch(/chunks-v3-2 +live +3\.2 +5\nchunks-v3 +kept +3\.1 +5\n/);
    expect((await tamis('indexes drop chunks-v3')).code).toBe(2);
    expect((await tamis('indexes drop chunks-v3-2 --yes')).code).toBe(1);
    await done('indexes drop chunks-v3 --yes');
    expect((await parsed('indexes list')).indexes).toHaveLength(1);
  });
});

describe('tamis schedule and tamis reconcile', () => {
  it('sets, lists, steers and removes', async () => {
    const said = await done(
      "schedule set vector-store --cron '0 3 * * 0' --window-minutes 90 --note nightly",
    );
    expect(said).toMatch(/^vector-store: 0 3 \* \* 0, for 90 min; next: \d{4}/);
    await done('schedule set reconcile --cron @hourly --paused');
    const listed = await done('schedule list');
    expect(listed).toMatch(/vector-store +0 3 \* \* 0, for 90 min +\d{4}-\S+ \S+ +nightly\n/);
    expect(listed).toMatch(/reconcile +@hourly +paused\n/);
    expect(listed).toMatch(/retention +not set +-\n/);
    await done("schedule resume reconcile --note 'all is well'");
    await done('schedule pause vector-store');
    expect((await parsed('schedule list')).schedules).toMatchObject([
      { name: 'reconcile', paused: false, note: 'all is well' },
      { name: 'retention-tasks', set: false },
      { name: 'retention-callbacks', set: false },
      { name: 'retention', set: false },
      { name: 'retention-quarantine', set: false },
      { name: 'backup', set: false },
      { name: 'vector-store', paused: true, note: 'nightly', window_minutes: 90 },
    ]);
    await done('schedule run vector-store');
    await done('reconcile');
    expect(gateway.workflows.scheduled.runs).toHaveLength(2);
    await done('schedule remove vector-store --yes');
    expect((await tamis('schedule remove reconcile --yes')).code).toBe(1);
    const wrong = await tamis('schedule set vector-store --cron noon');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('cron: must be five to seven fields');
  });
});

describe('tamis users', () => {
  it('creates, lists, gives a new token and deletes', async () => {
    const made = await parsed('users create Ada --email ada@example.org --quota 5 --external-id a-1');
    expect(made).toMatchObject({ display_name: 'Ada', email: 'ada@example.org', file_quota: 5 });
    expect(await done('users list')).toMatch(new RegExp(`${made.id} +Ada +ada@example.org +user +0 of 5 `));
    const renewed = await parsed(`users token ${made.id}`);
    expect(renewed.token).not.toBe(made.token);
    expect(await done('users create Grace --admin')).toContain('Token, shown this once: or-');
    await done(`users delete ${made.id} --yes`);
    const gone = await tamis(`users delete ${made.id} -y`);
    expect(gone.code).toBe(1);
    expect(gone.err).toContain(`User ${made.id} not found`);
  });
});

describe('tamis retention', () => {
  it('counts what would go, as things are and as if they were kept for so long', async () => {
    expect(await done('retention')).toMatch(
      /^RECORDS +KEPT +OLDER THAN +DUE +SCHEDULE\ntasks +30 days .* 0 +retention-tasks\ncallbacks +30 days .* retention-callbacks\nalerts +30 days .* retention\nquarantine +for good +- +0 +retention-quarantine\n/,
    );
    const { records } = await parsed('retention --days 7');
    expect(records).toMatchObject(
      ['tasks', 'callbacks', 'alerts', 'quarantine'].map((of) => ({ of, days: 7, due: 0, more: false })),
    );
    expect((await tamis('retention --days 0')).code).toBe(2);
    expect((await tamis('retention', { TAMIS_URL: gateway.url })).code).toBe(4);
  });

  it('shows one side where the other one is refused', async () => {
    const env = { TAMIS_URL: gateway.url, TAMIS_TOKEN: ADMIN_TOKEN };
    const { code, out } = await tamis('retention', env);
    expect(code).toBe(0);
    expect(out).toMatch(/callbacks +30 days/);
    expect(out).toMatch(/The rest was refused: Refused: .*no key was given/);
  });
});

describe('a proxy at an address of its own', () => {
  it('is asked there, and missed where it was not named', async () => {
    const documents = await startProxy({ isProxyAside: true });
    try {
      const env = { ...letIn(), TAMIS_URL: documents.url };
      const missed = await tamis('keys list', env);
      expect([missed.code, missed.err]).toEqual([
        1,
        expect.stringContaining('--proxy-url or TAMIS_PROXY_URL'),
      ]);
      expect((await tamis('retention', env)).out).toMatch(/callbacks (?:.*\n)+Left out: .*TAMIS_PROXY_URL/);
      const both = { ...env, TAMIS_PROXY_URL: gateway.url };
      expect((await tamis('keys list', both)).code).toBe(0);
      expect((await tamis('retention', both)).out).toMatch(/callbacks .*\nalerts .*\nquarantine /);
      expect((await tamis(`keys list --proxy-url ${gateway.url}`, env)).code).toBe(0);
    } finally {
      await documents.close();
    }
  });
});

describe('tamis keys and tamis forwarding', () => {
  it('creates, lists, rotates and removes keys by name', async () => {
    const made = await parsed('keys create ci --scope write');
    expect(made).toMatchObject({ name: 'ci', scopes: ['write'], key: expect.stringContaining('tamis_') });
    expect(await done('keys list')).toMatch(/^NAME .*\nci +write /);
    const rotated = await parsed('keys rotate ci --grace-seconds 60');
    expect(rotated.key).not.toBe(made.key);
    expect(rotated.previousUntil).not.toBeNull();
    expect((await tamis('keys remove other --yes')).code).toBe(1);
    await done('keys remove ci --yes');
    expect(await parsed('keys list')).toEqual([]);
  });

  it('shows what waits and steers watchers', async () => {
    await gateway.stores.watchers.setPaused('watcher-1', new Date());
    expect(await done('forwarding list')).toMatch(/watcher-1 +0 +- +0 +paused since/);
    expect((await tamis('forwarding retry watcher-1')).code).toBe(1);
    await done('forwarding resume watcher-1');
    await done('forwarding retry watcher-1');
    await done('forwarding pause watcher-1');
    expect((await parsed('forwarding list')).watchers).toMatchObject([{ watcher: 'watcher-1' }]);
    expect(gateway.urged).toEqual(['resume watcher-1', 'retry watcher-1']);
    const unknown = await tamis('forwarding pause other');
    expect(unknown.code).toBe(1);
    expect(unknown.err).toContain('Watcher not found');
  });
});

describe('tamis swap', () => {
  const asked: unknown[] = [];
  const swap = (changes: object) => ({
    partition: 'mill',
    source_embedder: 'old',
    target_embedder: 'new',
    status: 'running',
    files_total: 4,
    files_done: 0,
    error: null,
    ...changes,
  });
  let answers: (object | null)[] = [];
  const planted = (method: 'get' | 'post' | 'delete', path: string, status: number) =>
    route({
      method,
      path,
      summary: 'Swap',
      tag: 'Swaps',
      auth: 'admin',
      request: method === 'post' ? { body: z.looseObject({}) } : {},
      responses: { [status]: { description: 'Swap', schema: z.unknown() } },
      async handle(_ctx, input: { body?: unknown }) {
        asked.push([method, path, ...(method === 'post' ? [input.body] : [])]);
        return json(status, answers.length > 1 ? answers.shift() : answers[0]);
      },
    });
  const ONE = '/partition/mill/embedder-swap';
  const ALL = '/admin/embedder-swaps';

  it('starts, watches, shows and gives up', async () => {
    const other = await startGateway({
      plant: [
        planted('post', ONE, 202),
        planted('get', ONE, 200),
        planted('delete', ONE, 200),
        planted('post', ALL, 202),
        planted('get', ALL, 200),
      ],
    });
    const at = { TAMIS_URL: other.url, TAMIS_TOKEN: ADMIN_TOKEN };
    try {
      answers = [swap({}), swap({ files_done: 2 }), swap({ files_done: 4, status: 'completed' })];
      const watched = await tamis('swap start mill --to new --min-overlap 0.5 --watch', at);
      expect(watched).toMatchObject({ code: 0, err: '' });
      expect(watched.out).toContain('to new: 2 of 4 files (50 %)');
      expect(watched.out).toContain('status: completed');
      expect(asked[0]).toEqual(['post', ONE, { embedder: 'new', min_overlap: 0.5 }]);
      answers = [swap({ status: 'failed', error: { code: 'SWAP_HELD', message: 'overlap 0.2' } })];
      const failed = await tamis('swap watch mill', at);
      expect(failed.code).toBe(1);
      expect(failed.out).toContain('message: overlap 0.2');
      expect((await tamis('swap cancel mill', at)).code).toBe(0);
      expect(asked.at(-1)).toEqual(['delete', ONE]);
      answers = [null];
      expect((await tamis('swap status mill', at)).out).toBe('There never was one.\n');
      answers = [{ swaps: [swap({})] }];
      const all = 'swap start --from old --to new --concurrency 2 --min-known-item 0.9';
      expect((await tamis(all, at)).code).toBe(0);
      expect(asked.at(-1)).toEqual([
        'post',
        ALL,
        { source: 'old', target: 'new', concurrency: 2, min_known_item: 0.9 },
      ]);
      expect((await tamis('swap status', at)).out).toContain('  - partition: mill\n');
      for (const line of [
        'swap start mill --from old --to new',
        'swap start mill --to new --concurrency 2',
        'swap start --from old --to new --watch',
      ])
        expect([line, (await tamis(line, at)).code]).toEqual([line, 2]);
    } finally {
      await other.close();
    }
  });
});

describe('tamis eval', () => {
  const file = (name: string, content: string | Buffer) => {
    const path = join(mkdtempSync(join(tmpdir(), 'tamis-questions-')), name);
    writeFileSync(path, content);
    return path;
  };

  /** Ends a run as its workflow would. */
  async function finishRun(runId: string, ndcg: number[]) {
    const { evaluationRuns } = gateway.adapters;
    await evaluationRuns.record(
      runId,
      ndcg.map((ndcg_10, index) => sampleResult(index, { measures: { ndcg_10 } })),
    );
    const low = Math.min(...ndcg);
    const high = Math.max(...ndcg);
    const figure = { mean: (low + high) / 2, low, high, count: ndcg.length };
    const summary = { failed: 0, measures: { ndcg_10: figure }, search: { p50: 9, p95: 12 }, chat: null };
    await evaluationRuns.finish(runId, { status: 'completed', error: null, summary });
    gateway.workflows.evaluating.clear();
  }

  it('uploads questions, and says which lines are wrong', async () => {
    await gateway.call('POST', '/partition/mill');
    expect(await done('eval sets mill')).toBe('There is no question set.\n');
    const good = file('questions.csv', 'question,file_id\nWhy?,a\nWho?,b\n');
    expect(await done(`eval upload mill main ${good} --note 'by hand'`)).toBe(
      'Version 1 of main: 2 questions.\n',
    );
    expect(await done('eval sets mill')).toMatch(/^main +1 +2 +0 .* by hand$/m);
    const bad = await tamis(`eval upload mill main ${file('bad.jsonl', '{"question":"Why?"}\nx')}`);
    expect(bad.code).toBe(2);
    expect(bad.err).toMatch(/Line 1: It needs .* Line 2: The line is not valid JSON/);
  });

  it('refuses questions that are not UTF-8, as Excel writes a CSV, and keeps none', async () => {
    await gateway.call('POST', '/partition/mill');
    const text = 'question,file_id\nQuand le café ouvre-t-il ?,a\n';
    const refused = await tamis(`eval upload mill main ${file('latin.csv', Buffer.from(text, 'latin1'))}`);
    expect({ ...refused, err: '' }).toEqual({ code: 2, out: '', err: '' });
    expect(refused.err).toContain('is not UTF-8');
    expect(await done('eval sets mill')).toBe('There is no question set.\n');
    expect(await done(`eval upload mill main ${file('utf8.csv', text)}`)).toBe(
      'Version 1 of main: 1 questions.\n',
    );
  });

  it('starts runs, shows their figures, and compares two question by question', async () => {
    await gateway.call('POST', '/partition/mill');
    await done(`eval upload mill main ${file('q.jsonl', '{"question":"Why?","relevant":["a"]}')}`);
    expect((await tamis('eval show mill')).err).toContain('There never was a run');
    expect(await done('eval run mill main --label before --chat')).toMatch(/^Started: \S+, 1 questions\./);
    const [before] = (await parsed('eval list mill')).runs;
    expect(before).toMatchObject({ label: 'before', settings: { chat: true, top_k: 50 } });
    expect((await tamis('eval run mill main')).err).toContain('[EVALUATION_RUNNING]');
    await finishRun(before.run_id, [0.5, 0.5, 1]);
    const watching = startTamis(wordsOf('eval run mill main --label after --watch'), { env: letIn() });
    const after = await until('the run is listed', async () => {
      const [newest] = (await parsed('eval list mill')).runs;
      return newest.run_id !== before.run_id && newest;
    });
    await finishRun(after.run_id, [1, 0.25, 1]);
    const { code, out } = await watching.ended;
    expect(code).toBe(0);
    expect(out).toMatch(/^nDCG@10 +0\.625 +0\.250 to 1\.000 +3$/m);
    expect(await done('eval show mill')).toContain('search: 9 ms, 95 % within 12 ms');
    expect(await done('eval list mill')).toMatch(/completed .* 0\.625 +after\n.*completed .* before\n/);
    const compared = await done(`eval compare mill ${before.run_id} ${after.run_id}`);
    expect(compared).toMatch(/^nDCG@10 +0\.667 +0\.750 +\+0\.083 .* no +1\/1\/1$/m);
    expect(compared).toMatch(/^Better: before.*\n0\.500 +1\.000 +What is 0\?$/m);
    expect(compared).toMatch(/^Worse: before.*\n0\.500 +0\.250 +What is 1\?$/m);
    const wrong = await tamis(`eval compare mill ${before.run_id} ${after.run_id} --by luck`);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('measure')]);
  });

  it('weighs vectors by a run with each weight, over one version of the set', async () => {
    await gateway.call('POST', '/partition/mill');
    const questions = file('q.jsonl', '{"question":"Why?","relevant":["a"]}');
    await done(`eval upload mill main ${questions}`);
    const { evaluationRuns, partitions } = gateway.adapters;
    const { partition_key: key } = (await partitions.get('mill'))!;
    const weighing = startTamis(wordsOf('eval weigh mill main --json'), { env: letIn() });
    const asked: [number | undefined, number][] = [];
    for (let runs = 0; runs < 12; runs += 1) {
      const run = await until('the next run is at work', async () =>
        (await evaluationRuns.list(key, 20)).find(({ status }) => status === 'running'),
      );
      const weight = run.settings.overrides.vector_weight ?? undefined;
      asked.push([weight, run.version]);
      if (runs === 0) await done(`eval upload mill main ${questions}`);
      await finishRun(run.run_id, weight === 0.3 ? [1, 0.9, 0.8] : [0.5, 0.5, weight ?? 0.4]);
    }
    const weights = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
    expect(asked).toEqual([[undefined, 1], ...weights.map((weight) => [weight, 1])]);
    const { code, out } = await weighing.ended;
    expect(code).toBe(0);
    const found = JSON.parse(out);
    expect(found).toMatchObject({ partition: 'mill', set: 'main', version: 1, best: 0.3 });
    expect(found.preset.mean).toBeCloseTo(1.4 / 3, 10);
    expect(found.weights.map(({ weight }: { weight: number }) => weight)).toEqual(weights);
    expect(found.weights[10].ndcg_10).toMatchObject({ mean: 2 / 3, count: 3 });
    // The odd half has one question, for which 0.3 is best as well.
    expect(found.held_out.ndcg_10.mean).toBeCloseTo(0.9, 10);
    expect(found.held_out.difference).toMatchObject({
      low: expect.closeTo(0.4, 10),
      high: expect.closeTo(0.5, 10),
    });
  });

  it('cancels the run that is under way', async () => {
    await gateway.call('POST', '/partition/mill');
    await done(`eval upload mill main ${file('q.jsonl', '{"question":"Why?","relevant":["a"]}')}`);
    await done('eval run mill main');
    gateway.workflows.evaluating.clear();
    expect(await done('eval cancel mill')).toMatch(/^The run \S+ is cancelled\.$/m);
    const watched = await tamis('eval watch mill');
    expect([watched.code, watched.err]).toEqual([1, expect.stringContaining('ended cancelled')]);
  });
});

describe('tamis upgrade check', () => {
  it('says what comes, how long, what does not work and what is in the way', async () => {
    const other = await startGateway({
      plant: [
        route({
          method: 'get',
          path: '/admin/upgrade-check',
          summary: 'Check',
          tag: 'Check',
          auth: 'admin',
          responses: { 200: { description: 'Check', schema: z.unknown() } },
          handle: () =>
            json(200, {
              migrations: [
                {
                  name: 'vector-store',
                  title: '',
                  what: 'schema 2',
                  unit: 'chunks',
                  amount: 7_000,
                  units_per_second: 500,
                  rate_from: 'assumed',
                  seconds: 14,
                  state: null,
                  dark: ['searches'],
                  obstacle: 'no room',
                },
              ],
              seconds: 14,
              dark: ['searches'],
              obstacles: ['no room'],
              backup: { state: 'none_known', finished_at: null, note: 'Ask whoever makes them.' },
            }),
        }),
      ],
    });
    try {
      const { code, out } = await tamis('upgrade check', { TAMIS_URL: other.url, TAMIS_TOKEN: ADMIN_TOKEN });
      expect(code).toBe(0);
      expect(out.split('\n')).toEqual([
        'vector-store: schema 2',
        '  7,000 chunks, about 14 s at 500/s (assumed)',
        'in all: about 14 s',
        'does not work until then: searches',
        'in the way: no room',
        'backup: Ask whoever makes them.',
        '',
      ]);
    } finally {
      await other.close();
    }
  });
});

describe('tamis config check', () => {
  it('says what is wrong without starting anything', async () => {
    const good = await tamis('config check', { AUTH_TOKEN: ADMIN_TOKEN });
    expect(good).toEqual({ code: 0, out: 'The configuration is valid.\n', err: '' });
    const bad = await tamis('config check', {
      AUTH_TOKEN: ADMIN_TOKEN,
      PORT: 'eighty',
      RETENTION_DAYS: '-1',
    });
    expect(bad.code).toBe(1);
    expect(bad.err).toContain('PORT: ');
    expect(bad.err).toContain('RETENTION_DAYS: ');
    const json = await tamis('config check --json', { AUTH_TOKEN: ADMIN_TOKEN });
    expect(JSON.parse(json.out)).toEqual({ valid: true, notes: [] });
  });
});

describe('tamis check', () => {
  it('says which file of a secret cannot be read', async () => {
    const { code, err } = await tamis('check', { AUTH_TOKEN_FILE: '/no/such/file' });
    expect(code).toBe(1);
    expect(err).toMatch(/^✗ AUTH_TOKEN_FILE: \/no\/such\/file cannot be read: .*\n$/);
  });

  it('asks which engines, and compares the stores on those that it is given', async () => {
    const none = await tamis('check', {});
    expect(none.code).toBe(2);
    expect(none.err).toContain('MONGODB_URL and OPENSEARCH_URL');
    const engines = {
      MONGODB_URL: process.env['MONGODB_URL']!,
      OPENSEARCH_URL: process.env['OPENSEARCH_URL']!,
    };
    const name = `tamis-cli-${process.pid}`;
    const named = { ...engines, MONGODB_DATABASE: name, OPENSEARCH_INDEX_PREFIX: name };
    try {
      expect(await tamis('check', named)).toEqual({ code: 0, out: 'The stores agree.\n', err: '' });
      // Nothing is made or seeded on the way.
      const records = await connectMongo({ url: engines.MONGODB_URL, database: name });
      expect(await records.db.listCollections({}, { nameOnly: true }).toArray()).toEqual([]);
      await records.close();
      const indexes = await fetch(`${engines.OPENSEARCH_URL}/_cat/indices/${name}*?format=json`);
      expect(await indexes.json()).toEqual([]);
      const bad = await tamis('check', { ...named, PORT: 'eighty' });
      expect(bad.code).toBe(1);
      expect(bad.err).toContain('PORT: ');
    } finally {
      await forgetRun(
        {
          mongodb: engines.MONGODB_URL,
          opensearch: engines.OPENSEARCH_URL,
          temporal: process.env['TEMPORAL_ADDRESS']!,
        },
        { database: name, indexPrefix: name, queuePrefix: `${name}-` },
      );
    }
  });
});
