import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { startUpstream } from '../api/support/scripted-upstream.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { openInstantModelServer } from '../bench/instant-model-server.js';
import { ATTACKS } from '../support/attacks.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal } from '../support/signal-client.js';
import { startAttacker } from '../support/start-attacker.js';

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
  /** Pushes that were told to come again, as a LAPI does. */
  refused: number;
  faults: string[];
}
const agent = new Agent({ connections: 256 });
const closers: (() => Promise<unknown>)[] = [];
let stack: RunningStack;
let user: string;
let foe: string;
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
  await agent.destroy();
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

async function post(path: string, body: string, token: string): Promise<{ status: number; text: string }> {
  const { statusCode, body: answer } = await request(`${stack.base}${path}`, {
    method: 'POST',
    dispatcher: agent,
    body,
    headers: { 'content-type': 'application/json', ...bearer(token) },
  });
  return { status: statusCode, text: await answer.text() };
}

async function chat(token: string) {
  const messages = [{ role: 'user', content: 'What is said of the mill?' }];
  return await post(
    '/v1/chat/completions',
    JSON.stringify({ model: 'rag-mine', stream: true, messages }),
    token,
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
  const found: Load = { chats: [], pushes: [], refused: 0, faults: [] };
  const timed = async (into: number[], work: () => Promise<{ status: number; text: string }>) => {
    const from = performance.now();
    // What is refused takes longer than all others: a hundredth of it is too much.
    let taken = Infinity;
    try {
      const { status, text } = await work();
      if (status === 200) taken = performance.now() - from;
      else if (status === 503 && into === found.pushes) found.refused += 1;
      else found.faults.push(`${status} ${text.slice(0, 200)}`);
    } catch (error) {
      found.faults.push(String(error));
    }
    into.push(taken);
  };
  await Promise.all([
    keepUp(CHATS_PER_SECOND, seconds, () => timed(found.chats, () => chat(user))),
    keepUp(PUSHES_PER_SECOND, seconds, () => {
      const body = JSON.stringify([sampleSignal((serial += 1))]);
      return timed(found.pushes, () => post('/v3/signals', body, watcher));
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

function row(name: string, cells: readonly (string | number)[]): string {
  return `| ${[name, ...cells.map((cell) => (typeof cell === 'number' ? Math.round(cell) : cell))].join(' | ')} |`;
}

/**
 * The load beside an attack, or beside its control: the same requests to a server that does nothing with them. They
 * take of the same two cores what the sender takes, which is no cost of the gateway.
 */
async function during(name: string, isControl: boolean): Promise<{ found: Load; tries: number }> {
  const at = { base: stack.base, foe, bomber };
  const stop = await startAttacker({ name, triesPerSecond: TRIES_PER_SECOND, at, isControl });
  const found = await load(SECONDS);
  return { found, tries: await stop() };
}

it(
  'chats and pushes go on beside each attack',
  async () => {
    await load(20); // until what is asked for is compiled
    const base = await load(SECONDS);
    expect(base.faults).toEqual([]);
    expect(p99(base.pushes)).toBeLessThan(Infinity);
    const figures = ({ chats, pushes }: Load) => ({ chat: p99(chats), push: p99(pushes) });
    const alone = figures(base);
    const lines = [row('none', [0, alone.chat, alone.chat, alone.push, alone.push, 0])];
    const slow: string[] = [];
    for (const { name } of ATTACKS.filter((attack) => new RegExp(ONLY).test(attack.name))) {
      const control = figures((await during(name, true)).found);
      const { found, tries } = await during(name, false);
      const { chat: chatted, push } = figures(found);
      const faults = found.faults.length;
      lines.push(row(name, [tries, chatted, control.chat, push, control.push, faults + found.refused]));
      if (faults > 0) slow.push(`${name}: ${found.faults[0]}`);
      for (const [what, taken, without] of [
        ['chat', chatted, Math.max(alone.chat, control.chat)],
        ['push', push, Math.max(alone.push, control.push)],
      ] as const)
        if (taken > 2 * Math.max(FLOOR_MS, without))
          slow.push(
            `${name}: p99 of a ${what} is ${Math.round(taken)} ms, and ${Math.round(without)} without`,
          );
    }
    console.log(
      [
        `${CHATS_PER_SECOND} chats and ${PUSHES_PER_SECOND} pushes a second, ${SECONDS} s for each row`,
        row('Attack', ['Tries', 'Chat', 'Control', 'Push', 'Control', 'Not answered 200']),
        '|---|---|---|---|---|---|---|',
        ...lines,
      ].join('\n'),
    );
    expect(slow).toEqual([]);
  },
  60 * 60_000,
);
