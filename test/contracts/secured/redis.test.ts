import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { connectShared } from '../../../activities/connect.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { makeAuthorities } from '../../support/certificates.js';
import type { Authorities, Certificate } from '../../support/certificates.js';
import { freePort } from '../../support/free-port.js';
import { redisProgram } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const suite = redisProgram === null ? describe.skip : describe;

suite('a secured Redis', () => {
  let authorities: Authorities;
  let server: Certificate;
  let client: Certificate;
  beforeAll(() => {
    authorities = makeAuthorities();
    server = authorities.own.issue('redis');
    client = authorities.own.issue('tamis');
  });
  afterAll(() => authorities.close());

  const closings: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close();
  });

  const ACL = [
    'user default off',
    'user tamis on >a:password@here ~tamis:* &* +@all',
    'user reader on >reads ~* +get',
  ];

  /** Redis over TLS alone, which asks for a client's certificate; its other settings are the lines. */
  async function startServer(lines: readonly string[] = [], mode: string[] = []): Promise<number> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'tamis-test-redis-'));
    const settings = [
      'port 0',
      `tls-port ${port}`,
      'bind 127.0.0.1',
      'save ""',
      `dir ${folder}`,
      `tls-ca-cert-file ${authorities.own.ca}`,
      `tls-cert-file ${server.certificate}`,
      `tls-key-file ${server.key}`,
      'tls-replication yes',
      ...lines,
    ];
    writeFileSync(join(folder, 'redis.conf'), `${settings.join('\n')}\n`);
    const child = spawn(redisProgram!, [join(folder, 'redis.conf'), ...mode], { stdio: 'ignore' });
    closings.push(async () => {
      if (child.exitCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    });
    await until('Redis answers', async () => /PONG|NOAUTH/.test(cli(port, 'PING')));
    return port;
  }

  function cli(port: number, ...args: string[]): string {
    const tls = ['--tls', '--cacert', authorities.own.ca, '--cert', client.certificate, '--key', client.key];
    try {
      return execFileSync(redisProgram!.replace(/server$/, 'cli'), [...tls, '-p', String(port), ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } catch (error) {
      return String(error);
    }
  }

  const environment = (changes: Record<string, string>): Record<string, string> => ({
    REDIS_CA_FILE: authorities.own.ca,
    REDIS_CLIENT_CERT_FILE: client.certificate,
    REDIS_CLIENT_KEY_FILE: client.key,
    ...changes,
  });

  const RATE = { points: 5, seconds: 60 };

  /** Two gateways count together once both have it. */
  async function countsTogether(changes: Record<string, string>): Promise<void> {
    const states: string[] = [];
    const shared = [0, 1].map(() =>
      connectShared(parseConfig(environment(changes)), (state, cause) =>
        states.push(`${state} ${cause?.message ?? ''}`),
      ),
    );
    for (const { close } of shared) closings.push(close);
    await until(
      `both have Redis (${states.join()})`,
      async () => states.filter((state) => state === 'ready ').length === 2,
    );
    const [one, other] = shared.map(({ rateLimits }) => rateLimits);
    await one!.take('limit', RATE, 'somebody');
    expect(await other!.take('limit', RATE, 'somebody')).toMatchObject({ allowed: true, remaining: 3 });
    expect(await one!.peek('limit', RATE, 'somebody')).toMatchObject({ remaining: 3 });
    const [mine, yours] = shared.map(({ openCache }) => openCache('words', 10));
    for (const word of ['a', 'b', 'c', 'd']) await mine!.set(word, `value of ${word}`, 60_000);
    for (const word of ['a', 'b', 'c', 'd']) expect(await yours!.get(word)).toBe(`value of ${word}`);
    expect(one!.problem()).toBeNull();
  }

  /** What the limits say of it, which go on by themselves. */
  async function problemOf(changes: Record<string, string>): Promise<string> {
    const causes: string[] = [];
    const { rateLimits, close } = connectShared(parseConfig(environment(changes)), (state, cause) =>
      causes.push(`${state}: ${cause?.message}`),
    );
    closings.push(close);
    await until('the problem is known', async () => rateLimits.problem() !== null);
    expect(causes.at(-1)).toBe(`away: ${rateLimits.problem()!.message}`);
    expect(await rateLimits.take('limit', RATE, 'somebody')).toMatchObject({ allowed: true, remaining: 4 });
    return rateLimits.problem()!.message;
  }

  test('speaks TLS with a certificate on both sides, and knows a user of its ACL', async () => {
    const port = await startServer(ACL);
    const REDIS_URL = `rediss://tamis:${encodeURIComponent('a:password@here')}@127.0.0.1:${port}`;
    await countsTogether({ REDIS_URL });
    const table: [Record<string, string>, RegExp][] = [
      [
        { REDIS_URL: `rediss://tamis:another@127.0.0.1:${port}` },
        /^REDIS_URL: Redis refuses its user or password/,
      ],
      [
        { REDIS_URL: `rediss://127.0.0.1:${port}` },
        /^REDIS_URL: Redis refuses its user or password, or wants one\.$/,
      ],
      [
        { REDIS_URL, REDIS_CA_FILE: authorities.foreign.ca },
        /^REDIS_CA_FILE: none of its certificates signs/,
      ],
      [
        { REDIS_URL, REDIS_CLIENT_CERT_FILE: '', REDIS_CLIENT_KEY_FILE: '' },
        /^REDIS_CLIENT_CERT_FILE: Redis wants/,
      ],
    ];
    for (const [changes, sentence] of table) expect(await problemOf(changes)).toMatch(sentence);
  });

  test('is found through sentinels that have a password of their own', async () => {
    const port = await startServer(ACL);
    const sentinel = await startServer(
      [
        'requirepass asks-first',
        `sentinel monitor tamis-redis 127.0.0.1 ${port} 1`,
        'sentinel auth-user tamis-redis tamis',
        'sentinel auth-pass tamis-redis a:password@here',
      ],
      ['--sentinel'],
    );
    const login = {
      REDIS_URL: `rediss://tamis:${encodeURIComponent('a:password@here')}@redis.invalid`,
      REDIS_SENTINELS: `127.0.0.1:${sentinel}`,
      REDIS_SENTINEL_MASTER: 'tamis-redis',
    };
    await countsTogether({ ...login, REDIS_SENTINEL_PASSWORD: 'asks-first' });
    expect(await problemOf({ ...login, REDIS_SENTINEL_PASSWORD: 'another' })).toBe(
      'REDIS_SENTINEL_PASSWORD: the sentinels refuse this user or password, or want one.',
    );
  });

  test('is a cluster whose nodes share the keys', async () => {
    const cluster = ['cluster-enabled yes', 'tls-cluster yes', 'requirepass of-all', 'masterauth of-all'];
    const ports = await Promise.all([startServer(cluster), startServer(cluster)]);
    const tell = (port: number, ...args: string[]) => cli(port, '-a', 'of-all', '--no-auth-warning', ...args);
    tell(ports[0], 'CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
    tell(ports[1], 'CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
    tell(ports[0], 'CLUSTER', 'MEET', '127.0.0.1', String(ports[1]));
    for (const port of ports)
      await until('the cluster is whole', async () =>
        tell(port, 'CLUSTER', 'INFO').includes('cluster_state:ok'),
      );
    await countsTogether({
      REDIS_URL: 'rediss://:of-all@redis.invalid',
      REDIS_CLUSTER_NODES: `127.0.0.1:${ports[0]}`,
    });
    expect(
      await problemOf({
        REDIS_URL: 'rediss://:another@redis.invalid',
        REDIS_CLUSTER_NODES: `127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}`,
      }),
    ).toMatch(/^REDIS_URL: /);
  });
});
