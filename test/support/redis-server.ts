import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findRedis } from '../../deploy/local/services/redis.js';
import { reservePort } from '../../deploy/local/free-port.js';
import { until } from './until.js';

export interface RedisServer {
  url: string;
  /** Gone at once, with all it kept, as after a power cut. */
  kill(): Promise<void>;
  /** Still there, and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Back at the same address, empty. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Where the launcher would find it; null: tests that need one are skipped, and say so by their name. */
export const redisProgram = findRedis();

/** A Redis of the test's own on a free loopback port. */
export async function startRedis(): Promise<RedisServer> {
  if (redisProgram === null) throw new Error('there is no redis-server on this machine');
  const program = redisProgram;
  const { port, release } = await reservePort(null);
  const folder = mkdtempSync(join(tmpdir(), 'tamis-test-redis-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  let child: ReturnType<typeof spawn> | undefined;

  const start = async (): Promise<void> => {
    child = spawn(program, [...options, '--dir', folder], { stdio: 'ignore' });
    await until('Redis answers', () => answers(port));
  };
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    child = undefined;
  };
  await start();
  release();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const client = new Redis({ port, lazyConnect: true, disconnectTimeout: 100, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
