import type Koa from 'koa';
import { refusalOfScraper } from '../../activities/metrics.js';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';
import { bearerToken, tokenDigest } from '../http/middleware/authentication.js';
import type { RateLimiting } from '../http/middleware/rate-limit.js';
import { route } from '../http/route.js';
import type { Answer, Route } from '../http/route.js';
import type { GatewayMetrics } from './gateway-metrics.js';

function admitScraper(ctx: Koa.Context, config: Pick<Config, 'auth' | 'metrics'>): void {
  const refusal = refusalOfScraper(config, bearerToken(ctx));
  if (refusal !== null) throw new AppError('AUTH_ERROR', refusal, { plain: true });
}

async function scrape(metrics: GatewayMetrics): Promise<Answer> {
  const { type, text } = await metrics.read();
  return { status: 200, content: { type, data: text }, headers: { 'Cache-Control': 'no-store' } };
}

const responses = { 200: { description: 'Series in the text format 0.0.4', contentType: 'text/plain' } };

/** For scrapers, by a rule of its own (wire contract, section 1.2). */
export function scrapeRoutes(
  config: Pick<Config, 'auth' | 'metrics'>,
  metrics: GatewayMetrics,
  limitSignIn: RateLimiting['limitSignIn'],
): Route[] {
  return [
    route({
      method: 'get',
      path: '/metrics',
      summary: 'Metrics for a scraper, with the bearer token METRICS_TOKEN',
      tag: 'Health',
      auth: 'public',
      responses,
      errors: ['AUTH_ERROR'],
      async handle({ koa }) {
        const token = bearerToken(koa);
        const admitted = async (): Promise<void> => admitScraper(koa, config);
        // A guess costs its address what one of a user's token does; without a token nothing is guessed.
        await (token === null ? admitted() : limitSignIn(koa, tokenDigest(token), admitted));
        return scrape(metrics);
      },
    }),
  ];
}

/** The same for a person who administers. */
export function monitoringRoutes(metrics: GatewayMetrics): Route[] {
  return [
    route({
      method: 'get',
      path: '/monitoring/metrics',
      summary: 'The same metrics, for administrators',
      tag: 'Health',
      auth: 'admin',
      responses,
      handle: () => scrape(metrics),
    }),
  ];
}
