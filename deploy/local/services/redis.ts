import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { aptInstall } from '../apt-install.js';
import { askProgram } from '../ask-program.js';
import { findProgram } from '../find-program.js';
import { LauncherError } from '../launcher-error.js';
import type { Program, Service } from './service.js';

/** Old ones lack what the rate limiter's script uses; Debian has had 6 since 2021. */
const OLDEST = 6;

/** What is kept there may be lost, so there is nothing on disk and little in memory. */
const OPTIONS = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--maxmemory', '64mb'];
const EVICTION = ['--maxmemory-policy', 'volatile-ttl'];

/** The server on PATH or in the usual places; null: none. */
export function findRedis(): string | null {
  return findProgram('redis-server', process.env, ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']);
}

/** Rate limits that several gateways share. Everything works without it, each gateway by itself. */
export const redis: Service = {
  name: 'redis',
  variable: 'REDIS_URL',
  ports: [6379],
  optional: {
    obtains: true,
    without: 'each gateway keeps rate limits for itself',
  },

  async find() {
    const path = findRedis();
    return path ? await program(path) : null;
  },

  /** Neither its makers nor a package registry has a Redis to keep: it is the system's or none. */
  async kept() {
    return null;
  },

  async download() {
    return null;
  },

  async build(bench) {
    bench.report.phase('redis', 'installing redis-server with apt', 20);
    if (await aptInstall(bench, 'redis', 'redis-server')) {
      const path = findRedis();
      const installed = path && (await program(path));
      if (installed) return installed;
    }
    throw new LauncherError(`redis: no Redis ${OLDEST} or newer was found`, {
      advice: ['install Redis (on Debian: apt-get install redis-server), or set REDIS_URL to one that runs'],
    });
  },

  async launch({ paths }, { path }, [port]) {
    const folder = join(paths.local, 'redis');
    mkdirSync(folder, { recursive: true });
    const args = ['--port', String(port), '--dir', folder, ...OPTIONS, ...EVICTION];
    return { command: path, args, cwd: folder, env: {}, readySeconds: 30, expectedSeconds: 1 };
  },

  addresses([port]) {
    return { redis: `redis://127.0.0.1:${port}` };
  },

  async ready(_bench, address) {
    const client = new Redis(address, {
      lazyConnect: true,
      connectTimeout: 2000,
      disconnectTimeout: 100,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined); // `connect` rejects with it
    try {
      await client.connect();
      return (await client.ping()) === 'PONG';
    } finally {
      client.disconnect();
    }
  },
};

async function program(path: string): Promise<Program | null> {
  const version = /v=((\d+)\.\S+)/.exec((await askProgram(path, ['--version'])) ?? '');
  if (!version || Number(version[2]) < OLDEST) return null;
  return { path, kind: 'redis-server', label: `redis-server ${version[1]} (${path})` };
}
