import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { startUpstream } from '../api/support/scripted-upstream.js';
import { uploadForm } from '../api/support/uploads.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { openInstantModelServer } from '../bench/instant-model-server.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal } from '../support/signal-client.js';

/** Aimed at are 20 and 50 a second; a machine of two cores, on which the engines run too, is given less. */
const CHATS_PER_SECOND = Number(process.env['ATTACK_CHATS'] ?? 5);
const PUSHES_PER_SECOND = Number(process.env['ATTACK_PUSHES'] ?? 15);
/** What one attacker does at most: without a pause it is a flood, which takes the machine whatever is answered. */
const TRIES_PER_SECOND = Number(process.env['ATTACK_TRIES'] ?? 20);
/** A pattern of names, for a look at some. */
const ONLY = process.env['ATTACK_ONLY'] ?? '';
const SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 30);
/** A p99 of a few milliseconds doubles for nothing. */
const FLOOR_MS = 100;

interface Load {
  chats: number[];
  pushes: number[];
  faults: string[];
}
interface Attack {
  name: string;
  /** One go at it, again and again until the time is over. */
  once(index: number): Promise<unknown>;
  /** How many go at it at once, `TRIES_PER_SECOND` together. */
  hands: number;
}

const agent = new Agent({ connections: 256 });
const foes = new Agent({ connections: 64 });
const closers: (() => Promise<unknown>)[] = [];
let stack: RunningStack;
let user: string;
let foe: string;
let pourUrl: string;
const watcher = mintToken('friend').token;

beforeAll(async () => {
  const models = await openInstantModelServer();
  models.pauseBetweenWords(1);
  closers.push(() => models.close());
  // A CAPI that takes the tokens of `friend` and of `bomber`, lets those machines in and nobody else.
  const capi = await startUpstream((req, res) => {
    req.resume().on('end', () => {
      const known = [watcher, bomber].includes((req.headers.authorization ?? '').replace(/^Bearer /, ''));
      res.writeHead(known ? 200 : 403, { 'content-type': 'application/json' }).end('{"message":"x"}');
    });
  });
  closers.push(() => capi.close());
  // A model server of the attacker: blanks behind an open citation, and then more of them without an end.
  const pour = createServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = `data: ${JSON.stringify({ choices: [{ delta: { content: `[sources${' '.repeat(1900)}` } }] })}\n\n`;
    const write = (): void => {
      while (!res.destroyed && res.write(event));
      res.once('drain', write);
    };
    write();
  });
  await new Promise<void>((resolve) => pour.listen(0, '127.0.0.1', resolve));
  pourUrl = `http://127.0.0.1:${(pour.address() as AddressInfo).port}/v1`;
  closers.push(async () => {
    pour.closeAllConnections();
    pour.close();
  });
  stack = await openStack({
    LLM_PROVIDER: 'openai',
    BASE_URL: models.url,
    MODEL: 'chat',
    OLLAMA_HOST: '',
    // As where it runs: the worker gives way to the gateway.
    WORKER_NICENESS: '10',
    // As a gateway is served: the limits are what is tried here.
    RATE_LIMIT_ENABLED: 'true',
    RATE_LIMIT_CHAT: '1000000/minute',
    RATE_LIMIT_DEFAULT: '1000000/minute',
    CAPI_URL: capi.url,
    LOGIN_BUDGET: '18',
    FORWARD_ENABLED: 'false',
    LLM_OVERRIDE_ALLOW_CUSTOM_ENDPOINT: 'true',
    LLM_OVERRIDE_ALLOW_PRIVATE_URLS: 'true',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  [user, foe] = [await createUser('friend'), await createUser('foe')];
  for (const [partition, token] of [
    ['mine', user],
    ['theirs', foe],
  ] as const) {
    const made = await stack.request(`/partition/${partition}`, { method: 'POST', headers: bearer(token) });
    expect(made.status).toBeLessThan(300);
  }
}, 240_000);
afterAll(async () => {
  await stack?.close();
  for (const close of closers.reverse()) await close();
  await Promise.all([agent.destroy(), foes.destroy()]);
}, 120_000);

const bomber = mintToken('bomber').token;

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

async function createUser(name: string): Promise<string> {
  const form = new FormData();
  form.set('display_name', name);
  const response = await stack.request('/users/', { method: 'POST', body: form });
  return ((await response.json()) as { token: string }).token;
}

async function post(
  path: string,
  body: string | Buffer,
  { token, headers = {}, dispatcher = agent }: { token?: string; headers?: object; dispatcher?: Agent } = {},
): Promise<{ status: number; text: string }> {
  const { statusCode, body: answer } = await request(`${stack.base}${path}`, {
    method: 'POST',
    dispatcher,
    body,
    headers: { 'content-type': 'application/json', ...(token && bearer(token)), ...headers },
  });
  return { status: statusCode, text: await answer.text() };
}

async function chat(token: string, metadata?: object, content = 'What is said of the mill?') {
  return await post(
    '/v1/chat/completions',
    JSON.stringify({ model: 'rag-mine', stream: true, metadata, messages: [{ role: 'user', content }] }),
    { token },
  );
}

/** So many a second, whatever the answers take: a slow gateway is asked no less. */
async function keepUp(perSecond: number, seconds: number, ask: () => Promise<void>): Promise<void> {
  const asked: Promise<void>[] = [];
  const from = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await pause(Math.max(0, from + (index * 1000) / perSecond - performance.now()));
    asked.push(ask());
  }
  await Promise.all(asked);
}

let serial = 0;

async function load(seconds: number): Promise<Load> {
  const found: Load = { chats: [], pushes: [], faults: [] };
  const timed = async (into: number[], work: () => Promise<{ status: number; text: string }>) => {
    const from = performance.now();
    try {
      const { status, text } = await work();
      if (status !== 200) found.faults.push(`${status} ${text.slice(0, 200)}`);
    } catch (error) {
      found.faults.push(String(error));
    }
    into.push(performance.now() - from);
  };
  await Promise.all([
    keepUp(CHATS_PER_SECOND, seconds, () => timed(found.chats, () => chat(user))),
    keepUp(PUSHES_PER_SECOND, seconds, () => {
      const body = JSON.stringify([sampleSignal((serial += 1))]);
      return timed(found.pushes, () => post('/v3/signals', body, { token: watcher }));
    }),
  ]);
  return found;
}

function p99(times: readonly number[]): number {
  return percentile(
    [...times].sort((a, b) => a - b),
    0.99,
  );
}

async function upload(index: number, content: string, filename: string, metadata = '{}'): Promise<void> {
  const response = await stack.request(`/indexer/partition/theirs/file/f${index}-${Date.now()}`, {
    method: 'POST',
    headers: bearer(foe),
    body: uploadForm(content, { filename, metadata }),
  });
  await response.text();
}

/** A connection that says what it will send and then sends a byte at a time. */
async function stall(path: string, head: string): Promise<void> {
  const socket = connect(Number(new URL(stack.base).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const body = 'Content-Type: application/json\r\nContent-Length: 100000';
  socket.write(`POST ${path} HTTP/1.1\r\nHost: gateway\r\n${head}${body}\r\n\r\n{`);
  await Promise.race([once(socket, 'close'), pause(5_000)]);
  socket.destroy();
}

const by = { dispatcher: foes };
const bomb = gzipSync(`{"remediation_components":[${'{},'.repeat(4_000_000)}{}]}`);
const GZIP = { 'content-encoding': 'gzip' };

function made(index: number): string {
  return mintToken(`made-up-${index}-${Date.now()}`).token;
}

const ATTACKS: Attack[] = [
  {
    name: '1 metrics that unpack a thousandfold',
    hands: 2,
    once: () => post('/v3/metrics/', bomb, { ...by, token: bomber, headers: GZIP }),
  },
  {
    name: '2, 3 a model server of blanks without an end',
    hands: 2,
    once: () => chat(foe, { llm_override: { base_url: pourUrl, model: 'm', api_key: 'k' } }),
  },
  {
    name: '4 logins of made-up machines',
    hands: 4,
    once: (index) =>
      post('/v3/%77atchers/login', `{"machine_id":"x${index}","password":"x","scenarios":[]}`, by),
  },
  {
    name: '5 a made-up token with the name of the watcher',
    hands: 4,
    once: () =>
      post('/v3/metrics/', '{}', { ...by, token: mintToken('friend', { lifetimeSeconds: 2e9 }).token }),
  },
  {
    name: '6 questions of 4 MB',
    hands: 2,
    once: () => chat(foe, undefined, 'some words '.repeat(360_000)),
  },
  {
    name: '7 tags that never close, and spans of a billion cells',
    hands: 1,
    once: (index) =>
      upload(
        index,
        index % 2 ? '<a ="" =">'.repeat(36_000) : '<table><tr><td colspan="1000000000">x</table>',
        'x.html',
      ),
  },
  {
    name: '8 metadata of 9,000 keys',
    hands: 1,
    once: (index) =>
      upload(
        index,
        'text',
        'x.txt',
        JSON.stringify(Object.fromEntries(Array.from({ length: 9_000 }, (_, key) => [`k${key}`, key]))),
      ),
  },
  {
    name: '9 bodies that stall',
    hands: 40,
    once: (index) =>
      index % 2
        ? stall('/v3/metrics/', '')
        : stall('/v1/chat/completions', `Authorization: Bearer ${foe}\r\n`),
  },
  {
    name: '10 wrong tokens under exempt paths',
    hands: 4,
    once: (index) => post(`/chainlit/x${index}`, '{}', { ...by, token: `or-wrong-${index}-0123456789` }),
  },
  {
    name: '11 pushes of made-up watchers',
    hands: 4,
    once: (index) =>
      post('/v3/signals', JSON.stringify([sampleSignal(index)]), { ...by, token: made(index) }),
  },
];

async function during(attack: Attack, seconds: number): Promise<{ found: Load; tries: number }> {
  let over = false;
  let tries = 0;
  const hand = async (): Promise<void> => {
    while (!over) {
      await attack.once((tries += 1)).catch(() => undefined);
      await pause((1000 * attack.hands) / TRIES_PER_SECOND);
    }
  };
  const hands = Promise.all(Array.from({ length: attack.hands }, hand));
  const found = await load(seconds);
  over = true;
  await hands;
  return { found, tries };
}

it(
  'chats and pushes go on beside each attack',
  async () => {
    await load(5); // warm
    const base = await load(SECONDS);
    expect(base.faults).toEqual([]);
    const rows = [{ attack: 'none', tries: 0, chat: p99(base.chats), push: p99(base.pushes), faults: 0 }];
    const slow: string[] = [];
    for (const attack of ATTACKS.filter(({ name }) => new RegExp(ONLY).test(name))) {
      const { found, tries } = await during(attack, SECONDS);
      const row = { attack: attack.name, tries, chat: p99(found.chats), push: p99(found.pushes) };
      rows.push({ ...row, faults: found.faults.length });
      if (found.faults.length > 0) slow.push(`${attack.name}: ${found.faults[0]}`);
      for (const what of ['chat', 'push'] as const)
        if (row[what] > 2 * Math.max(FLOOR_MS, rows[0]![what]))
          slow.push(`${attack.name}: p99 of a ${what} is ${Math.round(row[what])} ms`);
    }
    const lines = rows.map(
      ({ attack, tries, chat: c, push, faults }) =>
        `| ${attack} | ${tries} | ${Math.round(c)} ms | ${Math.round(push)} ms | ${faults} |`,
    );
    console.log(
      [
        `${CHATS_PER_SECOND} chats and ${PUSHES_PER_SECOND} pushes a second, ${SECONDS} s for each row`,
        '| Attack | Tries | p99 of a chat | p99 of a push | Not answered 200 |',
        '|---|---|---|---|---|',
        ...lines,
      ].join('\n'),
    );
    expect(slow).toEqual([]);
  },
  60 * 60_000,
);
