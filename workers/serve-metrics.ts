import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { listenOn } from '../activities/listen-on.js';
import { refusalOfScraper } from '../activities/metrics.js';
import type { ProcessMetrics } from '../activities/metrics.js';
import { bearerIn } from '../schemas/bearer.js';
import type { Config } from '../schemas/config/config.js';

/** Temporal's own figures are asked of the exporter within this process. */
const SDK_WITHIN_MS = 2000;

function answer(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
}

async function readSdk(url: string): Promise<string> {
  try {
    const found = await fetch(url, { signal: AbortSignal.timeout(SDK_WITHIN_MS) });
    return found.ok ? await found.text() : '';
  } catch {
    // Absent rather than nothing at all.
    return '';
  }
}

/**
 * `GET /metrics` of a worker, by the rules of the gateway's: what this process counts and, behind it, what Temporal's
 * SDK does. It serves nothing else.
 * @param options.sdkUrl where the SDK's exporter answers; null: it has none
 */
export async function serveMetrics(options: {
  config: Pick<Config, 'auth' | 'metrics'>;
  metrics: ProcessMetrics;
  host: string;
  port: number;
  sdkUrl: string | null;
}): Promise<{ port: number; close(): Promise<void> }> {
  const { config, metrics, host, port, sdkUrl } = options;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics')
      return answer(response, 404, 'text/plain', 'Not Found\n');
    const bearer = bearerIn(request.headers.authorization ?? '');
    const refusal = refusalOfScraper(config, bearer);
    if (refusal !== null) return answer(response, 403, 'text/plain', `${refusal}\n`);
    void Promise.all([metrics.registry.metrics(), sdkUrl === null ? '' : readSdk(sdkUrl)]).then(
      ([own, sdk]) => answer(response, 200, metrics.registry.contentType, `${own}${sdk}`),
      (error: unknown) => answer(response, 500, 'text/plain', `${String(error)}\n`),
    );
  });
  // A scraper comes again.
  const bound = await listenOn(server, { port, host }, () => undefined);
  return {
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
