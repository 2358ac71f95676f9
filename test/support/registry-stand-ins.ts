import { createSocket } from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { endServer, listenOnLoopback } from './loopback-server.js';

async function listen(server: Server): Promise<number> {
  return (await listenOnLoopback(server)).port;
}

/** An RDAP service on loopback; paths asked for are noted. */
export async function openRdapStandIn(
  answer: (path: string, request: IncomingMessage, response: ServerResponse) => void,
) {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request.url ?? '', request, response);
  });
  const port = await listen(server);
  return {
    asked,
    url: `http://127.0.0.1:${port}/`,
    close: () => endServer(server),
  };
}

/** A WHOIS server on loopback. */
export async function openWhoisStandIn(answer: (query: string, socket: Socket) => void) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (line: Buffer) => {
      const query = line.toString().trim();
      asked.push(query);
      answer(query, socket);
    });
  });
  const port = await listen(server);
  return {
    asked,
    server: `127.0.0.1:${port}`,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function name(text: string): Buffer {
  return Buffer.concat([
    ...text.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

/** The name in a question. */
function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at] !== 0; at += (query[at] ?? 0) + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join('.');
}

/**
 * A resolver on loopback (RFC 1035) that answers every PTR question alike: with names, with a code of failure (3: no
 * such name, 2: server failure), or not at all.
 */
export async function openDnsStandIn(answer: string[] | number | null) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    asked.push(nameIn(query));
    if (answer === null) return;
    const names = typeof answer === 'number' ? [] : answer;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2);
    head.writeUInt16BE(names.length, 6);
    head.writeUInt32BE(0, 8);
    let end = 12;
    while (query[end] !== 0) end += (query[end] ?? 0) + 1;
    const question = query.subarray(12, end + 5);
    const records = names.map((text) => {
      const data = name(text);
      const fixed = Buffer.alloc(12);
      fixed.writeUInt16BE(0xc00c, 0); // the name of the question
      fixed.writeUInt16BE(12, 2); // PTR
      fixed.writeUInt16BE(1, 4); // IN
      fixed.writeUInt32BE(60, 6);
      fixed.writeUInt16BE(data.length, 10);
      return Buffer.concat([fixed, data]);
    });
    socket.send(Buffer.concat([head, question, ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    asked,
    server: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}
