import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { freePort } from './free-port.js';

/** A line to a service that a test can cut: what runs over it breaks off, and nothing new gets through. */
export interface CutLine {
  /** `host:port` to be used in the service's place. */
  readonly address: string;
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** @param target `host:port`, or a URL with a port, of the real service */
export async function openCutLine(target: string): Promise<CutLine> {
  const { hostname: host, port } = new URL(target.includes('://') ? target : `tcp://${target}`);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) });
    keep(near);
    keep(far);
    // One end that goes, however it goes, takes the other with it.
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const local = await freePort();
  await listen(local);

  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    address: `127.0.0.1:${local}`,
    cut,
    restore: () => (server.listening ? Promise.resolve() : listen(local)),
    close: cut,
  };
}
