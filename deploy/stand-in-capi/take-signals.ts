import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behaviours } from './behaviour.js';
import type { PushLog } from './push-log.js';

export interface SignalsRequest {
  req: IncomingMessage;
  res: ServerResponse;
  version: 'v2' | 'v3';
  watcher: string;
  tokenIssuedAt: number;
  body: string;
}

/** POST /signals: the fault in force decides, else the batch is taken. */
// eslint-disable-next-line complexity -- one branch for each fault
export function takeSignals(
  { behaviours, log }: { behaviours: Behaviours; log: PushLog },
  { req, res, version, watcher, tokenIssuedAt, body }: SignalsRequest,
): void {
  const items = parseItems(body);
  const fault = behaviours.next({
    watcher,
    tokenIssuedAt,
    bytes: Buffer.byteLength(body),
    items: (items ?? []).map((item) => JSON.stringify(item)),
  });
  const note = (taken: boolean, answered: number | null): void =>
    log.add(body, { watcher, version, taken, answered, fault: fault?.kind ?? null, items: items ?? [] });
  const answer = (status: number, message: string, retryAfter?: string | number): void => {
    const taken = status >= 200 && status < 300;
    note(taken, status);
    if (retryAfter !== undefined) res.setHeader('retry-after', String(retryAfter));
    sendJson(res, status, { message });
  };

  if (items === null) return answer(400, 'The body is not a JSON array.');
  switch (fault?.kind) {
    case undefined:
      return answer(200, 'OK');
    case 'status':
      return answer(fault.status, fault.message ?? `stand-in: ${fault.status}`, fault.retryAfter);
    case 'unauthorized':
      return answer(401, 'cookie token is empty');
    case 'marked-items':
      return answer(fault.status ?? 400, `an item is not acceptable: ${fault.marker}`);
    case 'too-large':
      return answer(413, 'Request Entity Too Large');
    case 'slow':
      return void setTimeout(() => {
        if (req.socket.destroyed) note(true, null);
        else answer(200, 'OK');
      }, fault.delayMs);
    case 'hang':
      return note(false, null);
    case 'close-untaken':
    case 'close-unanswered':
      note(fault.kind === 'close-unanswered', null);
      return void req.socket.destroy();
    case 'close-after-status':
      note(true, 200);
      return void req.socket.end('HTTP/1.1 200 OK\r\n');
  }
}

export function sendJson(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(value));
}

function parseItems(body: string): unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
