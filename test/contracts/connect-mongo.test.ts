import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';
import { isDuplicateKey } from '../../activities/stores/mongo/mongo-errors.js';
import { openTestDatabase } from './subject.js';

test('a server that is away is SERVICE_UNAVAILABLE, within seconds', async () => {
  await expect(connectMongo({ url: 'mongodb://127.0.0.1:9', database: 'none' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
  });
}, 10_000);

test('a URL that cannot be read is CONFIG_ERROR', async () => {
  await expect(connectMongo({ url: 'mongodb://', database: 'none' })).rejects.toMatchObject({
    code: 'CONFIG_ERROR',
  });
});

// Each socket is gone before anything has been told so: what is sent then must fail, and not wait for ever.
test('an operation on a connection that has just broken off ends, and the next ones find the server', async () => {
  const sockets: Socket[] = [];
  const collect = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', collect);
  const connection = await connectMongo({ url: process.env['MONGODB_URL']!, database: 'admin' });
  try {
    await connection.ping();
    expect(sockets.length).toBeGreaterThanOrEqual(2);
    for (const socket of sockets.splice(0)) socket.destroy();
    // Not retried by the driver, as reads are.
    await expect(connection.db.command({ ping: 1 })).rejects.toThrow('closed');
    await connection.ping();
  } finally {
    unsubscribe('net.client.socket', collect);
    await connection.close();
  }
}, 20_000);

// PostgreSQL below FerretDB ends one of several such writes by a deadlock; MongoDB repeats them inside the server. The
// gateways and workers of a fleet do not know of each other's writes: hence several connections.
test.each([1, 3])(
  'of many inserts of one unique key at once, over %i connections, one succeeds and the others meet its key',
  async (connections) => {
    const { db, close } = await openTestDatabase();
    const url = process.env['MONGODB_URL']!;
    const others = await Promise.all(
      Array.from({ length: connections - 1 }, () => connectMongo({ url, database: db.databaseName })),
    );
    try {
      const handles = [db, ...others.map((other) => other.db)];
      const all = handles.map((handle) => handle.collection<{ _id: string; key: string }>('rows'));
      await all[0]!.createIndexes([{ key: { key: 1 }, unique: true }]);
      for (let round = 0; round < 12; round += 1) {
        const key = `key-${round}`;
        const inserts = Array.from({ length: 6 * connections }, (_, i) =>
          all[i % connections]!.insertOne({ _id: `${key}-${i}`, key }),
        );
        const results = await Promise.allSettled(inserts);
        const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(refusals.filter((error) => !isDuplicateKey(error))).toEqual([]);
        expect(refusals).toHaveLength(6 * connections - 1);
      }
    } finally {
      await Promise.all(others.map((other) => other.close()));
      await close();
    }
  },
  120_000,
);
