import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Authority } from './certificates.js';
import { readTls } from './certificates.js';
import { listenOnLoopback } from './loopback-server.js';

export interface TlsProxy {
  port: number;
  close(): Promise<void>;
}

/**
 * Ends TLS in front of a server that speaks none, as a sidecar does: the handshake is real, the bytes within are passed
 * on as they come.
 * @param options.wantsClient connections without a certificate of the authority are refused
 */
export async function openTlsProxy(options: {
  target: { host: string; port: number };
  authority: Authority;
  hosts?: readonly string[];
  wantsClient?: boolean;
  /** What is agreed on as the protocol within: `h2` for gRPC. */
  protocols?: string[];
}): Promise<TlsProxy> {
  const { target, authority, hosts, wantsClient = false, protocols } = options;
  const open = new Set<Socket>();
  const server = createServer(
    {
      ...readTls(authority.ca, authority.issue(`proxy-${target.port}-${hosts?.[0] ?? 'loopback'}`, hosts)),
      requestCert: wantsClient,
      rejectUnauthorized: wantsClient,
      ...(protocols && { ALPNProtocols: protocols }),
    },
    (inside) => {
      const outside = connect(target);
      for (const socket of [inside, outside]) {
        open.add(socket);
        // One end that breaks off takes the other with it.
        socket
          .on('error', () => undefined)
          .on('close', () => {
            open.delete(socket);
            inside.destroy();
            outside.destroy();
          });
      }
      inside.pipe(outside).pipe(inside);
    },
  );
  server.on('tlsClientError', () => undefined);
  const { port } = await listenOnLoopback(server);
  return {
    port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Where a URL of a service leads. */
export function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url.includes('://') ? url : `tcp://${url}`);
  return { host: hostname, port: Number(port) };
}
