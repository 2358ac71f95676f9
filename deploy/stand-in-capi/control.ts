import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behaviour, Behaviours } from './behaviour.js';
import type { PushLog } from './push-log.js';
import { sendJson } from './take-signals.js';

export interface ControlDeps {
  behaviours: Behaviours;
  log: PushLog;
  refuse(forMs: number): void;
}

/**
 * The control surface, for callers on the same machine only:
 * - `GET|PUT /_control/behaviour`: the list of faults in force (an object counts as a list of one, `[]` as none)
 * - `POST /_control/refuse` `{forMs}`: closes the listener for a while
 * - `GET /_control/received?watcher=`: the pushes that were taken, in order
 * - `GET /_control/pushes?watcher=`: all pushes, also those that were not taken
 */
export function handleControl(
  deps: ControlDeps,
  req: IncomingMessage,
  res: ServerResponse,
  url: URL,
  body: string,
): void {
  if (!isLoopback(req.socket.remoteAddress)) return sendJson(res, 403, { message: 'loopback only' });
  const watcher = url.searchParams.get('watcher') ?? undefined;
  switch (`${req.method} ${url.pathname}`) {
    case 'GET /_control/behaviour':
      return sendJson(res, 200, deps.behaviours.get());
    case 'PUT /_control/behaviour':
      deps.behaviours.set([JSON.parse(body) as Behaviour | Behaviour[]].flat());
      return sendJson(res, 200, deps.behaviours.get());
    case 'POST /_control/refuse':
      sendJson(res, 200, { message: 'refusing' });
      return deps.refuse((JSON.parse(body) as { forMs: number }).forMs);
    case 'GET /_control/received':
      return sendJson(res, 200, deps.log.list({ watcher, taken: true }));
    case 'GET /_control/pushes':
      return sendJson(res, 200, deps.log.list({ watcher }));
    default:
      return sendJson(res, 404, { message: 'no such control' });
  }
}

function isLoopback(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address ?? '');
}
