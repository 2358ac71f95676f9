import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type Router from '@koa/router';
import type Koa from 'koa';
import { z } from 'zod';
import type { Config } from '../../schemas/config/config.js';
import { admitWithInput, createAdmission } from './admission.js';
import type { AdmittingOptions } from './admission.js';
import { baseUrl } from './base-url.js';
import type { Logger } from '../logger.js';
import { checkedList, listBody, losslessBody } from './json.js';
import { hasBody, isFormOrNothing, readForm, requireKnownField } from './read-form.js';
import { readJsonBody } from './read-json-body.js';
import { parsePart } from './request-issues.js';
import type { Answer, PublicContext, Route, RouteRequest } from './route.js';
import { endingWith } from './stopping.js';
import type { Stopping } from './stopping.js';
import { surfaceOf } from './surfaces.js';

export interface MountOptions extends AdmittingOptions {
  http: Config['http'];
  /** Checks each answer against its declared schema; for tests, since it costs a second walk over the body. */
  checkResponses: boolean;
  stopping?: Stopping;
}

/**
 * Puts the route table on a router. Order matters where paths overlap: the first route that matches answers. A path
 * that another route names is that route's, whatever its methods: what it does not serve is not read as an id.
 */
export function mount(router: Router, routes: readonly Route[], options: MountOptions): void {
  const overlapping = pathsWithNarrower(routes.map(({ path }) => path));
  for (const route of routes) {
    const pattern = pathPattern(route.path, router.opts.strict === true);
    if (!overlapping.has(route.path)) {
      router[route.method](pattern, (ctx) => serve(ctx, route, options));
      continue;
    }
    router[route.method](pattern, (ctx, next) => {
      const layers = router.match(ctx.path, ctx.method).path;
      const isOurs = narrowest(layers).some(({ methods }) => methods.includes(route.method.toUpperCase()));
      return isOurs ? serve(ctx, route, options) : next();
    });
  }
}

/** Those of some paths beside which there is a narrower one. Split once each: there are tens of thousands of pairs. */
function pathsWithNarrower(paths: readonly string[]): Set<string> {
  const split = [...new Set(paths)].map((path) => ({ path, segments: segmentsOf(path) }));
  const hasNarrower = ({ path, segments }: { path: string; segments: string[] }) =>
    // What is relayed has no names.
    !path.includes('{+') && split.some((other) => isNarrower(other.segments, segments));
  return new Set(split.filter(hasNarrower).map(({ path }) => path));
}

function segmentsOf(path: string): string[] {
  return path.replace(/(?<=.)\/$/, '').split('/');
}

/** Whether a path has words where another has parameters, and is the same otherwise. */
function isNarrower(own: readonly string[], wider: readonly string[]): boolean {
  if (own.length !== wider.length) return false;
  const others = wider.filter((segment, index) => segment !== own[index]);
  const differing = own.filter((segment, index) => segment !== wider[index]);
  return (
    others.every((segment) => segment.startsWith('{')) &&
    differing.some((segment) => !segment.startsWith('{'))
  );
}

/** Of the layers that match a path those with the fewest parameters. */
export function narrowest<L extends { paramNames: readonly unknown[] }>(layers: readonly L[]): L[] {
  const fewest = Math.min(...layers.map(({ paramNames }) => paramNames.length));
  return layers.filter(({ paramNames }) => paramNames.length === fewest);
}

/**
 * Without its last slash: a router that is not strict then serves both slash forms, and redirects neither. A strict
 * one takes `/alerts/` for `/alerts/{id}` with nothing as the id, which is a bad id and not an unknown route.
 */
function pathPattern(path: string, strict: boolean): string {
  return path
    .replace(/(?<=.)\/$/, '')
    .replace(/\{\+(\w+)\}$/, '{*$1}')
    .replace(/\{(\w+)\}$/, strict ? '{:$1}' : ':$1')
    .replaceAll(/\{(\w+)\}/g, ':$1');
}

async function serve(ctx: Koa.Context, route: Route, options: MountOptions): Promise<void> {
  ctx.state['route'] = route.path;
  const admitAnew = createAdmission(ctx, route, options);
  const context = { ...contextOf(ctx, options), admitAnew };
  const caller = await admitAnew();
  if (caller !== null) Object.assign(context, caller);
  const input = await readInput(ctx, route);
  const present = await admitWithInput(ctx, route, caller, options, admitAnew);
  if (present !== null) Object.assign(context, present);
  const answer = await route.handle(context, input);
  if (options.checkResponses) checkAnswer(route, answer);
  if (answer.relayed !== undefined) await relay(ctx, answer.status, answer.relayed);
  else await write(ctx, answer, options.stopping);
}

function contextOf(ctx: Koa.Context, options: MountOptions): Omit<PublicContext, 'admitAnew'> {
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
}

async function readInput(ctx: Koa.Context, { request }: Route): Promise<unknown> {
  return {
    params: request?.params && parsePart(request.params, paramsOf(ctx, request.params), 'path'),
    query: request?.query && parsePart(request.query, queryOf(ctx, request.query), 'query'),
    ...(await readBody(ctx, request)),
  };
}

async function readBody(
  ctx: Koa.Context,
  { body, bodyAsForm, bodyOptional, form }: RouteRequest = {},
): Promise<{ body?: unknown; form?: unknown }> {
  if (form !== undefined) return { form: parsePart(form, await readForm(ctx), 'body') };
  if (body === undefined) return {};
  if (bodyOptional === true && !hasBody(ctx)) return { body: parsePart(body, {}, 'body') };
  // No body at all is an empty form: whatever a client leaves out has a default.
  const sentAsForm = bodyAsForm !== undefined && !ctx.request.is('json', '+json') && isFormOrNothing(ctx);
  if (sentAsForm) {
    const fields = await readForm(ctx);
    requireKnownField(ctx, bodyAsForm.shape);
    return { body: parsePart(bodyAsForm, fields, 'body') };
  }
  return { body: parsePart(body, await readJsonBody(ctx), 'body') };
}

/** A part of the path that is not there is an empty one. */
function paramsOf(ctx: Koa.Context, schema: z.ZodObject): Record<string, string> {
  const given = ctx['params'] as Record<string, string | undefined>;
  return Object.fromEntries(Object.keys(schema.shape).map((name) => [name, given[name] ?? '']));
}

function takesList(schema: z.ZodType | undefined): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return takesList(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodArray;
}

/**
 * Query values in the form of the schema: lists as lists; of a name given twice the last one, or both for a surface
 * that refuses them. Unknown names stay out.
 */
function queryOf(ctx: Koa.Context, schema: z.ZodObject): Record<string, string | string[]> {
  const { refusesRepeats } = surfaceOf(ctx.path);
  const query: Record<string, string | string[]> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const values = [ctx.query[name] ?? []].flat();
    const last = values.at(-1);
    const whole = takesList(field as z.ZodType) || (refusesRepeats && values.length > 1);
    if (last !== undefined) query[name] = whole ? values : last;
  }
  return query;
}

function checkAnswer(route: Route, answer: Answer): void {
  if (answer.relayed !== undefined) return;
  const declared = route.responses[answer.status];
  if (declared === undefined)
    throw new Error(`${route.method} ${route.path} answered ${answer.status}, which it does not declare`);
  if (declared.schema === undefined) return;
  if (answer.body !== undefined) declared.schema.parse(answer.body);
  if (answer.list !== undefined)
    answer.list = checkedList(answer.list, (whole) => declared.schema?.parse(whole));
}

async function write(ctx: Koa.Context, answer: Answer, stopping?: Stopping): Promise<void> {
  // Before anything is said of the answer: what fails here has a status of its own.
  const listed = answer.list && (await listBody(answer.list));
  ctx.status = answer.status;
  if (answer.events !== undefined) {
    ctx.type = 'text/event-stream';
    // Proxies in between must hand each event on as it comes.
    ctx.set({ 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' });
    const over = answer.follows === true ? stopping?.begun : stopping?.late;
    const events = over === undefined ? answer.events : endingWith(answer.events, over);
    ctx.body = Readable.from(events, { objectMode: true });
  } else if (answer.content !== undefined) {
    ctx.type = answer.content.type;
    ctx.body = answer.content.data;
  } else if (answer.body !== undefined || listed !== undefined) {
    ctx.type = 'application/json';
    ctx.body = listed ?? losslessBody(answer.body);
  } else {
    // Nothing at all: 201 and 200 keep their status with a body of no bytes.
    ctx.body = answer.status === 204 ? null : '';
    ctx.remove('Content-Type');
  }
  if (answer.headers !== undefined) ctx.set(answer.headers);
}

/**
 * Around Koa, which would guess a content type and drop a length. When the other side breaks off, so do we: an answer
 * cut short must not look whole.
 */
async function relay(
  ctx: Koa.Context,
  status: number,
  { headers, body }: NonNullable<Answer['relayed']>,
): Promise<void> {
  ctx.respond = false;
  ctx.res.writeHead(status, headers);
  try {
    await pipeline(body, ctx.res);
  } catch (error) {
    const left = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE' && !body.errored;
    (ctx.state['log'] as Logger)[left ? 'debug' : 'warn']({ err: error }, 'a relayed answer broke off');
  }
}
