import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { reservePort } from '../local/free-port.js';
import { createBehaviours } from './behaviour.js';
import type { Behaviour } from './behaviour.js';
import { handleControl } from './control.js';
import { createPushLog } from './push-log.js';
import type { PushRecord } from './push-log.js';
import { mintToken, readToken } from './stand-in-token.js';
import { sendJson, takeSignals } from './take-signals.js';

export interface StandInCapi {
  url: string;
  port: number;
  /** Replaces the faults in force; none: everything works. */
  behave(...behaviours: Behaviour[]): void;
  /** Pushes that were taken, in order. */
  received(watcher?: string): PushRecord[];
  /** All pushes, also those that were not taken. */
  pushes(watcher?: string): PushRecord[];
  /** Pushes that have been read and not been answered yet. */
  underWay(): number;
  /** Method and path of everything that was asked, in order; the last ten thousand. */
  requests(): readonly string[];
  /** What the decision stream answers from now on. */
  publish(decisions: object): void;
  /** Bodies that were posted to a path behind the version, such as `/usage-metrics`; the last thousand of all. */
  posted(path: string): string[];
  /** Closes the listener and all connections; opens again after so long, or with `listen`. */
  refuse(forMs?: number): Promise<void>;
  listen(): Promise<void>;
  close(): Promise<void>;
}

const TOKEN_LIFETIME_SECONDS = 3600;
const MAX_REQUESTS = 10_000;
const MAX_POSTED = 1000;

/**
 * A small central API for tests and first runs: it answers as the real one (wire contract, section 6), keeps what it
 * was sent, and can be told to fail in every way that the real one or the line to it can.
 */
export async function createStandInCapi(
  options: { port?: number; host?: string; file?: string | undefined } = {},
): Promise<StandInCapi> {
  const host = options.host ?? '127.0.0.1';
  const behaviours = createBehaviours();
  const log = createPushLog(options.file);
  // It closes and opens again at the same place, so not at a port that an outgoing connection may get meanwhile.
  const reserved = options.port === undefined ? await reservePort(null) : null;
  let port = options.port ?? reserved?.port ?? 0;
  let reopening: NodeJS.Timeout | undefined;
  let underWay = 0;
  const requests: string[] = [];
  const posted: { path: string; body: string }[] = [];
  let decisions: object | null = null;

  const server: Server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      if (!res.headersSent) sendJson(res, 400, { message: String(error) });
    });
  });
  const listen = async (): Promise<void> => {
    clearTimeout(reopening);
    if (server.listening) return;
    server.listen(port, host);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  };
  const shut = async (): Promise<void> => {
    clearTimeout(reopening);
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const refuse = async (forMs?: number): Promise<void> => {
    await shut();
    if (forMs !== undefined) reopening = setTimeout(() => void listen(), forMs);
  };

  // eslint-disable-next-line complexity -- one branch for each endpoint
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await readBody(req);
    const url = new URL(req.url ?? '/', 'http://stand-in');
    if (url.pathname.startsWith('/_control/')) {
      const closeSoon = (forMs: number): void => void setTimeout(() => void refuse(forMs), 20);
      return handleControl({ behaviours, log, refuse: closeSoon }, req, res, url, body);
    }
    const [, version, path] = /^\/(v[23])(\/.*)$/.exec(url.pathname) ?? [];
    const endpoint = `${req.method} ${path}`;
    if (requests.push(`${req.method} ${url.pathname}`) > MAX_REQUESTS) requests.shift();
    if (version === undefined) return sendJson(res, 404, { message: 'no such page' });
    if (endpoint === 'POST /watchers/login') {
      const { machine_id: watcher } = JSON.parse(body) as { machine_id: string };
      const { token, expiresAt } = mintToken(watcher, {
        issuedAt: behaviours.issueTime(),
        lifetimeSeconds: TOKEN_LIFETIME_SECONDS,
      });
      return sendJson(res, 200, { code: 200, expire: expiresAt.toISOString(), token });
    }
    if (endpoint === 'POST /watchers' || endpoint === 'POST /watchers/reset')
      return sendJson(res, 200, { message: 'OK' });

    const holder = readToken(req.headers.authorization);
    if (holder === null) return sendJson(res, 401, { message: 'cookie token is empty' });
    if (endpoint === 'POST /signals') {
      underWay += 1;
      res.once('close', () => (underWay -= 1));
      return takeSignals(
        { behaviours, log },
        {
          req,
          res,
          body,
          watcher: holder.watcher,
          tokenIssuedAt: holder.issuedAt,
          version: version as 'v2' | 'v3',
        },
      );
    }
    if (req.method === 'POST' && posted.push({ path: path ?? '', body }) > MAX_POSTED) posted.shift();
    const published = endpoint === 'GET /decisions/stream' ? decisions : null;
    const answer = published ?? plainAnswer(endpoint, version);
    return sendJson(res, answer === null ? 404 : 200, answer ?? { message: 'no such page' });
  };

  await listen().finally(() => reserved?.release());
  return {
    get url() {
      return `http://${host}:${port}`;
    },
    get port() {
      return port;
    },
    behave: (...list) => behaviours.set(list),
    received: (watcher) => log.list({ watcher, taken: true }),
    pushes: (watcher) => log.list({ watcher }),
    underWay: () => underWay,
    requests: () => requests,
    publish: (answer) => {
      decisions = answer;
    },
    posted: (path) => posted.filter((post) => post.path === path).map(({ body }) => body),
    refuse,
    listen,
    close: shut,
  };
}

/** What the real one says where nothing is to be kept; null for a path that it does not have. */
function plainAnswer(endpoint: string, version: string): object | null {
  switch (endpoint) {
    case 'GET /decisions/stream':
      return version === 'v2'
        ? { new: [], deleted: [] }
        : { new: [], deleted: [], links: { blocklists: [], allowlists: [] } };
    case 'POST /metrics':
    case 'POST /metrics/':
    case 'POST /usage-metrics':
    case 'POST /watchers/enroll':
    case 'DELETE /watchers/self':
    case 'POST /decisions/delete':
    case 'POST /decisions/sync':
      return { message: 'OK' };
    default:
      return null;
  }
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return (req.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}
