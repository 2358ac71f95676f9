import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type Koa from 'koa';
import { z } from 'zod';
import { AppError } from '../schemas/app-error.js';
import type { Config } from '../schemas/config.js';
import type { PartitionStore } from '../activities/ports.js';
import { authorisePartition } from './authorise-partition.js';
import { baseUrl } from './base-url.js';
import type { Logger } from './logger.js';
import { losslessBody } from './lossless-body.js';
import type { Caller } from './middleware/authentication.js';
import { readJsonBody } from './read-json-body.js';
import { parsePart } from './request-issues.js';
import type { Answer, PublicContext, Route } from './route.js';

export interface MountOptions {
  authenticate(ctx: Koa.Context): Promise<Caller>;
  partitions: Pick<PartitionStore, 'get'>;
  http: Config['http'];
  /** Checks each answer against its declared schema; for tests, since it costs a second walk over the body. */
  checkResponses: boolean;
}

/** Puts the route table on a router. Order matters where paths overlap: the first route that matches answers. */
export const mount = (router: Router, routes: readonly Route[], options: MountOptions): void => {
  for (const route of routes) {
    // Without its last slash and not strict: the router then serves both slash forms, and redirects neither.
    const path = route.path.replace(/(?<=.)\/$/, '').replaceAll(/\{(\w+)\}/g, ':$1');
    router[route.method](path, (ctx) => serve(ctx, route, options));
  }
};

const serve = async (ctx: Koa.Context, route: Route, options: MountOptions): Promise<void> => {
  const context = contextOf(ctx, options);
  const caller = await admit(ctx, route, options);
  if (caller !== null) Object.assign(context, caller);
  const answer = await route.handle(context, await readInput(ctx, route));
  if (options.checkResponses) checkAnswer(route, answer);
  write(ctx, answer);
};

const contextOf = (ctx: Koa.Context, options: MountOptions): PublicContext => {
  const gone = new AbortController();
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) gone.abort();
  });
  return {
    requestId: ctx.state['requestId'] as string,
    baseUrl: baseUrl(ctx, options.http),
    signal: gone.signal,
    log: ctx.state['log'] as Logger,
    koa: ctx,
  };
};

/** Authenticates and authorises. Only a route that says `public` is served to nobody in particular. */
const admit = async (ctx: Koa.Context, route: Route, options: MountOptions): Promise<Caller | null> => {
  if (route.auth === 'public') return null;
  const caller = await options.authenticate(ctx);
  ctx.state['principal'] = caller.principal;
  if (route.auth === 'user') return caller;
  if (route.auth === 'admin') {
    if (!caller.principal.isAdmin)
      throw new AppError('AUTH_ERROR', 'Admin privileges required', { plain: true });
    return caller;
  }
  const partition = (ctx['params'] as Record<string, string>)['partition'];
  if (partition === undefined)
    throw new Error(`${route.path} asks for a role on a partition it does not name`);
  await authorisePartition(options.partitions, caller.scope, partition, route.auth.partition);
  return caller;
};

const readInput = async (ctx: Koa.Context, { request }: Route): Promise<unknown> => ({
  params: request?.params && parsePart(request.params, { ...(ctx['params'] as object) }, 'path'),
  query: request?.query && parsePart(request.query, queryOf(ctx, request.query), 'query'),
  body: request?.body && parsePart(request.body, await readJsonBody(ctx), 'body'),
});

const takesList = (schema: z.ZodType | undefined): boolean => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return takesList(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodArray;
};

/** Query values as the schema wants them: lists as lists, the last one of a name given twice. Unknown names stay out. */
const queryOf = (ctx: Koa.Context, schema: z.ZodObject): Record<string, string | string[]> => {
  const query: Record<string, string | string[]> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const values = [ctx.query[name] ?? []].flat();
    const last = values.at(-1);
    if (last !== undefined) query[name] = takesList(field as z.ZodType) ? values : last;
  }
  return query;
};

const checkAnswer = (route: Route, answer: Answer): void => {
  const declared = route.responses[answer.status];
  if (declared === undefined)
    throw new Error(`${route.method} ${route.path} answered ${answer.status}, which it does not declare`);
  if (declared.schema !== undefined && answer.body !== undefined) declared.schema.parse(answer.body);
};

const write = (ctx: Koa.Context, answer: Answer): void => {
  ctx.status = answer.status;
  if (answer.events !== undefined) {
    ctx.type = 'text/event-stream';
    // Proxies in between must hand each event on as it comes.
    ctx.set({ 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' });
    ctx.body = Readable.from(answer.events, { objectMode: true });
  } else if (answer.content !== undefined) {
    ctx.type = answer.content.type;
    ctx.body = answer.content.data;
  } else if (answer.body !== undefined) {
    ctx.type = 'application/json';
    ctx.body = losslessBody(answer.body);
  } else {
    // Nothing at all: 201 and 200 keep their status with a body of no bytes.
    ctx.body = answer.status === 204 ? null : '';
    ctx.remove('Content-Type');
  }
  if (answer.headers !== undefined) ctx.set(answer.headers);
};
