import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { listenOnLoopback } from './loopback-server.js';

/** Calls that went through, by command and collection (MongoDB), or method and last part of the path (OpenSearch). */
export type Calls = Map<string, number>;

export interface EngineTaps {
  /** Variables that lead a gateway or a worker through the taps. */
  environment: { MONGODB_URL: string; OPENSEARCH_URL: string };
  /** Since the start, or since the last call of `reset`. */
  mongodb(): Calls;
  opensearch(): Calls;
  reset(): void;
  close(): Promise<void>;
}

const OP_MSG = 2013;
const HEADER_BYTES = 16;
/** What drivers send of their own accord. */
const UPKEEP = new Set(['hello', 'ismaster', 'ping', 'endSessions', 'saslStart', 'saslContinue']);

/** Cuts what a client sends into messages of MongoDB's wire protocol, and names each. */
function readMessages(seen: (name: string) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= HEADER_BYTES) {
      const length = rest.readInt32LE(0);
      if (rest.length < length) return;
      // Header, flags, kind of the section, length of the document, type of its first field: then that one's name.
      if (rest.readInt32LE(12) === OP_MSG) {
        const nameEnd = rest.indexOf(0, HEADER_BYTES + 10);
        const command = rest.toString('utf8', HEADER_BYTES + 10, nameEnd);
        const isText = rest[HEADER_BYTES + 9] === 2;
        const collection = isText ? rest.toString('utf8', nameEnd + 5, rest.indexOf(0, nameEnd + 5)) : '';
        if (!UPKEEP.has(command)) seen(`${command} ${collection}`.trim());
      }
      rest = rest.subarray(length);
    }
  };
}

const REQUEST = /^(GET|POST|PUT|DELETE|HEAD) (\S+) HTTP\/1\.1\r\n/;

/** A client without pipelining begins each request with a packet of its own. */
function readRequests(seen: (name: string) => void): (bytes: Buffer) => void {
  return (bytes) => {
    const found = REQUEST.exec(bytes.toString('latin1', 0, 2048));
    if (found !== null) seen(`${found[1]} ${new URL(found[2]!, 'http://engine').pathname.split('/').at(-1)}`);
  };
}

async function openTap(
  target: URL,
  defaultPort: number,
  read: (seen: (name: string) => void) => (bytes: Buffer) => void,
  seen: (name: string) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => other.destroy());
    socket.once('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server: Server = createServer((client) => {
    const engine = connect(Number(target.port || defaultPort), target.hostname);
    keep(client, engine);
    keep(engine, client);
    client.on('data', read(seen));
    client.pipe(engine);
    engine.pipe(client);
  });
  const { port } = await listenOnLoopback(server);
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Counts the calls of the processes that are led through it to the engines, without their taking notice. */
export async function openEngineTaps(engines: {
  MONGODB_URL: string;
  OPENSEARCH_URL: string;
}): Promise<EngineTaps> {
  const counts = { mongodb: new Map<string, number>(), opensearch: new Map<string, number>() };
  const count = (calls: Calls) => (name: string) => void calls.set(name, (calls.get(name) ?? 0) + 1);
  const mongodb = await openTap(new URL(engines.MONGODB_URL), 27017, readMessages, count(counts.mongodb));
  const opensearch = await openTap(
    new URL(engines.OPENSEARCH_URL),
    9200,
    readRequests,
    count(counts.opensearch),
  );
  return {
    environment: { MONGODB_URL: mongodb.url, OPENSEARCH_URL: opensearch.url },
    mongodb: () => new Map(counts.mongodb),
    opensearch: () => new Map(counts.opensearch),
    reset() {
      counts.mongodb.clear();
      counts.opensearch.clear();
    },
    async close() {
      await Promise.all([mongodb.close(), opensearch.close()]);
    },
  };
}
