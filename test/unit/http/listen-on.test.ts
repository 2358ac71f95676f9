import { createServer } from 'node:http';
import { afterEach, expect, it } from '@jest/globals';
import { listenOn } from '../../../activities/listen-on.js';

const server = createServer((_request, response) => response.end('here'));
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('goes on serving when a connection could not be accepted, and refuses a port that is taken', async () => {
  const told: string[] = [];
  const host = '127.0.0.1';
  const port = await listenOn(server, { port: 0, host }, ({ message }) => told.push(message));
  // As Node tells of it: the system had no room for the connection.
  server.emit('error', new Error('accept ENOBUFS'));
  server.emit('error', new Error('accept ENOMEM'));
  expect(await (await fetch(`http://${host}:${port}`)).text()).toBe('here');
  expect(told).toEqual(['accept ENOBUFS', 'accept ENOMEM']);
  const other = createServer();
  await expect(listenOn(other, { port, host }, () => undefined)).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});
