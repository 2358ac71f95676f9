import { timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import type { Config } from '../../schemas/config/config.js';
import { bearerToken, tokenDigest } from '../http/middleware/authentication.js';
import { route } from '../http/route.js';
import type { Answer, Route } from '../http/route.js';
import type { GatewayMetrics } from './gateway-metrics.js';

const forbidden = (text: string): AppError => new AppError('AUTH_ERROR', text, { plain: true });

/** Of digests, which are of one length whatever was sent. */
const isSame = (given: string, expected: string): boolean =>
  timingSafeEqual(Buffer.from(tokenDigest(given)), Buffer.from(tokenDigest(expected)));

/** Scrapers have a token of their own; the administrator's is none of theirs, also where both were set alike. */
const admitScraper = (ctx: Koa.Context, { auth, metrics }: Pick<Config, 'auth' | 'metrics'>): void => {
  if (metrics.token === null) {
    if (metrics.allowUnauthenticated) return;
    throw forbidden(
      'Metrics endpoint disabled: set METRICS_TOKEN, or METRICS_ALLOW_UNAUTHENTICATED=true to open it.',
    );
  }
  const given = bearerToken(ctx) ?? '';
  const isAdmins = auth.token !== null && isSame(given, auth.token);
  if (isAdmins || !isSame(given, metrics.token)) throw forbidden('Invalid metrics token');
};

const scrape = async (metrics: GatewayMetrics): Promise<Answer> => {
  const { type, text } = await metrics.read();
  return { status: 200, content: { type, data: text }, headers: { 'Cache-Control': 'no-store' } };
};

const responses = { 200: { description: 'Series in the text format 0.0.4', contentType: 'text/plain' } };

/** For scrapers, by a rule of its own (wire contract, section 1.2). */
export const scrapeRoutes = (config: Pick<Config, 'auth' | 'metrics'>, metrics: GatewayMetrics): Route[] => [
  route({
    method: 'get',
    path: '/metrics',
    summary: 'Metrics for a scraper, with the bearer token METRICS_TOKEN',
    tag: 'Health',
    auth: 'public',
    responses,
    errors: ['AUTH_ERROR'],
    async handle({ koa }) {
      admitScraper(koa, config);
      return scrape(metrics);
    },
  }),
];

/** The same for a person who administers. */
export const monitoringRoutes = (metrics: GatewayMetrics): Route[] => [
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
