import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';

/** Has a server listen on a free port of this machine; `url` is of HTTP, without a slash at the end. */
export async function listenOnLoopback(server: Server): Promise<{ port: number; url: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}` };
}

/** Cuts the connections of a server, if there is one; returns once it has ended. */
export async function endServer(server: HttpServer | HttpsServer | undefined): Promise<void> {
  if (server === undefined) return;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
