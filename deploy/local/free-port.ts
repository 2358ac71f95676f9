import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { tryLock } from './file-lock.js';
import { ownTemporaryFolder } from './own-folder.js';

/** A port without a listener that no other launcher of this user has just chosen for itself. */
export interface ReservedPort {
  readonly port: number;
  /** To be called when the service listens (or has given up): from then on the listener itself keeps others away. */
  release(): void;
}

/**
 * Where ports are chosen. Systems take the near ends of outgoing connections from 32768 (Linux) or 49152 upwards: a
 * port from there that is free now may belong to a connection when a slow service comes to listen on it.
 */
const CHOSEN_FROM = 20_000;
const CHOSEN_BELOW = 32_768;
const MAX_TRIES = 100;

/**
 * `preferred` when it is free, otherwise one that is unused. Two clones may start at the same moment, and
 * a slow service listens only seconds after its port was chosen: hence the reservation, visible to all clones of a
 * user.
 */
export async function reservePort(
  preferred: number | null,
  folder = ownTemporaryFolder('tamis-ports'),
): Promise<ReservedPort> {
  if (preferred !== null) {
    const reserved = await reserve(preferred, folder);
    if (reserved) return reserved;
  }
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const reserved = await reserve(randomInt(CHOSEN_FROM, CHOSEN_BELOW), folder);
    if (reserved) return reserved;
  }
  throw new Error('no free port on 127.0.0.1');
}

async function reserve(wanted: number, folder: string): Promise<ReservedPort | null> {
  const port = await bindable(wanted);
  if (port === null) return null;
  const release = tryLock(join(folder, String(port)));
  return release && { port, release };
}

/** The port that could be bound on loopback just now (0 asks for any), null when it is taken. */
export function bindable(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null));
    });
  });
}
