import type { EventEmitter } from 'node:events';
// @ts-expect-error -- not part of its typed surface
import connection from 'mongodb/lib/cmap/connection.js';

/** What this needs of the driver's connection. */
interface DriverConnection extends EventEmitter {
  error: Error | null;
  writeCommand(...args: unknown[]): Promise<void>;
}

const patched = Symbol.for('tamis.patchMongoSockets');

/**
 * Ends an operation whose connection closes while it writes. In the driver (7.8 and 7.9) a socket that is destroyed,
 * and whose 'close' has not been told yet, takes no write: `Connection.writeCommand` then waits for a 'drain' that
 * never comes, and no time-out covers it. An operation hangs for good; when it is the monitor's heartbeat, the server
 * is never found again after a broken line. Applied once in a process, before the first client.
 * @throws Error when the driver no longer has the method: then this has to be looked at again
 */
export function patchMongoSockets(): void {
  const { Connection } = connection as {
    Connection: { prototype: DriverConnection & { [patched]?: true } };
  };
  const { prototype } = Connection;
  if (prototype[patched]) return;
  const { writeCommand } = prototype;
  if (typeof writeCommand !== 'function')
    throw new Error("the MongoDB driver's Connection.writeCommand is gone");
  prototype.writeCommand = async function (this: DriverConnection, ...args) {
    let fail: () => void;
    const closed = new Promise<never>((_, reject) => {
      fail = () => reject(this.error ?? new Error('the connection was closed'));
    });
    this.once('close', fail!);
    try {
      await Promise.race([writeCommand.apply(this, args), closed]);
    } finally {
      this.off('close', fail!);
    }
  };
  prototype[patched] = true;
}
