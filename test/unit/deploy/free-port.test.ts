import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { bindable, reservePort } from '../../../deploy/local/free-port.js';
import { temporaryFolder } from './temporary-folder.js';

test('a port that someone listens on is not taken, another one is', async () => {
  const folder = temporaryFolder();
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await bindable(port)).toBeNull();
  const reserved = await reservePort(port, folder);
  expect(reserved.port).not.toBe(port);
  // not where the system takes the near ends of outgoing connections from
  expect(reserved.port).toBeLessThan(32_768);
  reserved.release();
  server.close();
});

test('two that want the same free port at the same time get two ports; a released one is free again', async () => {
  const folder = temporaryFolder();
  const wanted = (await bindable(0)) ?? 0;
  const first = await reservePort(wanted, folder);
  const second = await reservePort(wanted, folder);
  expect(first.port).toBe(wanted);
  expect(second.port).not.toBe(wanted);
  first.release();
  expect((await reservePort(wanted, folder)).port).toBe(wanted);
});
