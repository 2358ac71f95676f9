import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

/** A server in the place of CAPI that answers by a script, and remembers the requests as they came. */
export async function startUpstream(script: RequestListener) {
  const seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  const server = createServer((req, res) => {
    seen.push({ method: req.method, url: req.url, headers: req.headers });
    script(req, res);
  });
  const { url } = await listenOnLoopback(server);
  return {
    seen,
    url,
    close: () => endServer(server),
  };
}
