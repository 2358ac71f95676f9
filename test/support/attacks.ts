import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { uploadForm } from '../api/support/uploads.js';
import { sampleSignal } from './signal-client.js';

/** Whom an attacker attacks, and as whom. */
export interface Target {
  base: string;
  /** Token of a plain user. */
  foe: string;
  /** Token of a watcher that the central API lets in. */
  bomber: string;
  /** A model server of the attacker. */
  pourUrl: string;
}

/** What hostile review found, by the row of its list. */
interface Attack {
  name: string;
  /** One go at it, again and again until the time is over. */
  once(at: Target, index: number): Promise<unknown>;
  /** How many go at it at once. */
  hands: number;
}

const agent = new Agent({ connections: 64 });

async function post(
  { base }: Target,
  path: string,
  { body, token, headers = {} }: { body: string | Buffer; token?: string; headers?: object },
): Promise<void> {
  const answer = await request(`${base}${path}`, {
    method: 'POST',
    dispatcher: agent,
    body,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
  await answer.body.dump({ limit: Infinity });
}

async function chat(at: Target, content: string, metadata?: object): Promise<void> {
  await post(at, '/v1/chat/completions', {
    body: JSON.stringify({
      model: 'rag-mine',
      stream: true,
      metadata,
      messages: [{ role: 'user', content }],
    }),
    token: at.foe,
  });
}

async function upload(
  at: Target,
  index: number,
  file: { content: string; filename: string; metadata?: string },
) {
  const { content, ...options } = file;
  const response = await fetch(`${at.base}/indexer/partition/theirs/file/f${index}-${Date.now()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.foe}` },
    body: uploadForm(content, options),
  });
  await response.text();
}

/** A connection that says what it will send and then sends a byte at a time. */
async function stall({ base }: Target, path: string, head: string): Promise<void> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const body = 'Content-Type: application/json\r\nContent-Length: 100000';
  socket.write(`POST ${path} HTTP/1.1\r\nHost: gateway\r\n${head}${body}\r\n\r\n{`);
  await Promise.race([once(socket, 'close'), pause(5_000)]);
  socket.destroy();
}

const bomb = gzipSync(`{"remediation_components":[${'{},'.repeat(4_000_000)}{}]}`);
const GZIP = { 'content-encoding': 'gzip' };

function made(index: number): string {
  return mintToken(`made-up-${index}-${Date.now()}`).token;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: '1 metrics that unpack a thousandfold',
    hands: 2,
    once: (at) => post(at, '/v3/metrics/', { body: bomb, token: at.bomber, headers: GZIP }),
  },
  {
    name: '2, 3 a model server of blanks without an end',
    hands: 2,
    once: (at) =>
      chat(at, 'What is said of the mill?', {
        llm_override: { base_url: at.pourUrl, model: 'm', api_key: 'k' },
      }),
  },
  {
    name: '4 logins of made-up machines',
    hands: 4,
    once: (at, index) =>
      post(at, '/v3/%77atchers/login', {
        body: `{"machine_id":"x${index}","password":"x","scenarios":[]}`,
      }),
  },
  {
    name: '5 a made-up token with the name of the watcher',
    hands: 4,
    once: (at) =>
      post(at, '/v3/metrics/', {
        body: '{}',
        token: mintToken('friend', { lifetimeSeconds: 2e9 }).token,
      }),
  },
  {
    name: '6 questions of 4 MB',
    hands: 2,
    once: (at) => chat(at, 'some words '.repeat(360_000)),
  },
  {
    name: '7 tags that never close, and spans of a billion cells',
    hands: 1,
    once: (at, index) =>
      upload(at, index, {
        content: index % 2 ? '<a ="" =">'.repeat(36_000) : '<table><tr><td colspan="1000000000">x</table>',
        filename: 'x.html',
      }),
  },
  {
    name: '8 metadata of 9,000 keys',
    hands: 1,
    once: (at, index) =>
      upload(at, index, {
        content: 'text',
        filename: 'x.txt',
        metadata: JSON.stringify(
          Object.fromEntries(Array.from({ length: 9_000 }, (_, key) => [`k${key}`, key])),
        ),
      }),
  },
  {
    name: '9 bodies that stall',
    hands: 40,
    once: (at, index) =>
      index % 2
        ? stall(at, '/v3/metrics/', '')
        : stall(at, '/v1/chat/completions', `Authorization: Bearer ${at.foe}\r\n`),
  },
  {
    name: '10 wrong tokens under exempt paths',
    hands: 4,
    once: (at, index) =>
      post(at, `/chainlit/x${index}`, { body: '{}', token: `or-wrong-${index}-0123456789` }),
  },
  {
    name: '11 pushes of made-up watchers',
    hands: 4,
    once: (at, index) =>
      post(at, '/v3/signals', { body: JSON.stringify([sampleSignal(index)]), token: made(index) }),
  },
];
