import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Listens, and goes on when a connection cannot be accepted later on, for want of memory or of open files.
 * @param onError told of that
 * @returns the port; the system chooses it for 0
 * @throws what the system says of a port that is taken or not allowed
 */
export async function listenOn(
  server: Server,
  { port, host }: { port: number; host: string },
  onError: (error: Error) => void,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // An error that nothing listens for ends the process.
      server.on('error', onError);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
