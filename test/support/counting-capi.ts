import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { mintToken, readToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { until } from './until.js';
import { endServer, listenOnLoopback } from './loopback-server.js';

/**
 * A central API that keeps no signal, for campaigns of more than a process can hold: of each watcher it follows the
 * numbers in `message` ("signal 17"), which must come in order, each once, but for those that a rule holds back.
 */
export interface CountingCapi {
  readonly url: string;
  /** How many signals have come, over all watchers. */
  received(): number;
  /** What came out of order, twice, or behind a gap. */
  faults(): readonly string[];
  close(): Promise<void>;
}

const MAX_FAULTS = 20;

export async function createCountingCapi(isHeldBack: (number: number) => boolean): Promise<CountingCapi> {
  const next = new Map<string, number>();
  const faults: string[] = [];
  let received = 0;

  const take = (watcher: string, signals: readonly { message: string }[]): void => {
    for (const { message } of signals) {
      const expected = next.get(watcher) ?? 0;
      const number = Number(message.split(' ')[1]);
      if (number !== expected && faults.length < MAX_FAULTS)
        faults.push(`${watcher} sent ${number} where ${expected} was due`);
      next.set(watcher, isHeldBack(number + 1) ? number + 2 : number + 1);
      received += 1;
    }
  };

  const server = createServer((req, res) => {
    void readBody(req).then((body) => {
      const send = (status: number, answer: object): void => {
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      };
      if (req.url?.endsWith('/watchers/login') === true) {
        const { machine_id: watcher } = JSON.parse(body) as { machine_id: string };
        const { token, expiresAt } = mintToken(watcher);
        return send(200, { code: 200, expire: expiresAt.toISOString(), token });
      }
      if (req.method === 'POST' && req.url?.endsWith('/signals') === true) {
        const bearer = readToken(req.headers.authorization);
        if (bearer === null) return send(401, { message: 'cookie token is empty' });
        take(bearer.watcher, JSON.parse(body) as { message: string }[]);
        return send(200, { message: 'OK' });
      }
      return send(404, { message: 'not found' });
    });
  });
  const { url } = await listenOnLoopback(server);
  return {
    url: `${url}/`,
    received: () => received,
    faults: () => faults,
    close: () => endServer(server),
  };
}

async function readBody(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  return (req.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
}

/** What is wrong once all of so many signals have had two minutes to come: how many came, and those out of order. */
export async function forwardingFaults(
  capi: Pick<CountingCapi, 'received' | 'faults'>,
  signals: number,
): Promise<string[]> {
  const late: string[] = [];
  await until('all signals are forwarded', async () => capi.received() >= signals, {
    withinMs: 120_000,
  }).catch(() => late.push(`${capi.received()} of ${signals} signals were forwarded`));
  return [...late, ...capi.faults()];
}
