import { reservePort } from '../../deploy/local/free-port.js';

/** A port of loopback that nobody listens on at this moment, and that no outgoing connection will be given. */
export async function freePort(): Promise<number> {
  const { port, release } = await reservePort(null);
  release();
  return port;
}
