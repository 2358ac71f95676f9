import type { Readable } from 'node:stream';
import type Koa from 'koa';
import type { z } from 'zod';
import type { KeyScope } from '../../schemas/signals/api-keys.js';
import type { Principal, Role, Scope } from '../../schemas/documents/users.js';
import type { ErrorCode } from '../../schemas/error-table.js';
import type { Logger } from '../logger.js';

/**
 * Who may call. `partition` is a role on the partition in the path, by the check order of the wire contract 1.1, and
 * with `admin` one that only administrators make use of; `key` the holder of a key of the proxy's management side, with
 * a scope: unless it is named, `read` for a GET and `write` for the rest; `token` a local API server, whose token is
 * CAPI's to check.
 */
export type RouteAuth =
  | 'public'
  | 'user'
  | 'admin'
  | { partition: Role; admin?: true }
  | { key: 'dashboard'; scope?: KeyScope }
  | { token: 'capi' };

/** `all`: every method, also those that have no place in OpenAPI. */
export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'all';

export interface RouteRequest {
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** JSON, parsed before `handle`. */
  body?: z.ZodType;
  /** A request without a body counts as one with `{}`. */
  bodyOptional?: true;
  /** The same body as form fields, for clients of an older version of the route; values are texts. */
  bodyAsForm?: z.ZodObject;
  /** Form fields without a file, url-encoded or multipart, parsed before `handle`. */
  form?: z.ZodObject;
  /** Multipart: documented here, read by `handle` itself, whose checks come before the stream. */
  multipart?: z.ZodObject;
  /** JSON of this shape: documented here, read by `handle` itself, since one bad item must not refuse the others. */
  ownBody?: z.ZodType;
}

/** What one status answers: JSON of a schema, other content, or (null) nothing. */
export interface DeclaredResponse {
  description: string;
  schema?: z.ZodType;
  contentType?: string;
  /** Server-sent events instead, where the request asks for them. */
  orEvents?: true;
}

type InputOf<R extends RouteRequest> = {
  [K in 'params' | 'query' | 'body' | 'form']: R extends Record<K, infer S extends z.ZodType>
    ? z.output<S>
    : undefined;
};

/** What every handler gets, with or without a principal. */
export interface PublicContext {
  requestId: string;
  /** `http://host`, without a slash at the end; links are built on it. */
  baseUrl: string;
  /** Aborts when the client leaves before it has its answer. */
  signal: AbortSignal;
  log: Logger;
  koa: Koa.Context;
  /**
   * The caller as it is now. A handler that reads a body by itself, or waits for something else, calls it afterwards:
   * the token, the session, the key or a role may have ended meanwhile.
   * @param withinMs an answer that is younger is good enough; a second unless given
   * @throws AppError as the admission of the request
   */
  admitAnew(withinMs?: number): Promise<object | null>;
}

export interface CallerContext extends PublicContext {
  principal: Principal;
  scope: Scope;
  admitAnew(withinMs?: number): Promise<Pick<CallerContext, 'principal' | 'scope'>>;
}

/** An object with a list as its first field, `{"<name>": [rows], …}`, whose rows are made while it is written. */
export interface JsonList {
  name: string;
  rows: AsyncIterable<unknown>;
  /** Its further fields. */
  behind?: Readonly<Record<string, unknown>>;
}

/** An answer before it is written; made by the functions below. */
export interface Answer {
  status: number;
  body?: unknown;
  /** A body that may be too large to be made in one piece. */
  list?: JsonList;
  /** Server-sent events, each a whole event text. */
  events?: AsyncGenerator<string>;
  /** The events follow something that goes on without them: they end as soon as the gateway is told to stop. */
  follows?: boolean;
  content?: { type: string; data: string | Buffer | Readable };
  /** Someone else's answer, handed on as it comes; its headers win over ours. */
  relayed?: { headers: Record<string, string | string[]>; body: Readable };
  headers?: Record<string, string | string[]>;
}

type ContextOf<A extends RouteAuth> = A extends 'public' | { key: string } | { token: string }
  ? PublicContext
  : CallerContext;

export interface RouteDefinition<A extends RouteAuth = RouteAuth, R extends RouteRequest = RouteRequest> {
  method: HttpMethod;
  /**
   * OpenAPI form, `/partition/{partition}`; both slash forms are served, but for a strict router. `{+path}` as the
   * last step stands for the whole rest of a path.
   */
  path: string;
  summary: string;
  tag: string;
  auth: A;
  /** Takes the token from `?token=` as well: a link that a browser opens carries no header. */
  tokenInQuery?: true;
  request?: R;
  responses: Readonly<Record<number, DeclaredResponse>>;
  errors?: readonly ErrorCode[];
  handle(ctx: ContextOf<A>, input: InputOf<R>): Promise<Answer> | Answer;
}

/** A route in the table, its types forgotten: `mount` gives `handle` what its own schemas made. */
export interface Route extends Omit<RouteDefinition, 'handle'> {
  handle(ctx: PublicContext | CallerContext, input: unknown): Promise<Answer> | Answer;
}

/**
 * One route object validates the request, writes the API page and names who may call. `auth` has no default:
 * a route without it does not compile.
 */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- a request of which nothing is declared
export function route<const A extends RouteAuth, const R extends RouteRequest = Record<never, never>>(
  definition: RouteDefinition<A, R>,
): Route {
  return definition;
}

/** What a route of the management side asks of a key. */
export function neededScope({ method, auth }: Pick<Route, 'method' | 'auth'>): KeyScope {
  return (
    (typeof auth === 'object' && 'key' in auth ? auth.scope : undefined) ??
    (method === 'get' ? 'read' : 'write')
  );
}

export function json(status: number, body: unknown): Answer {
  return { status, body };
}

/** Status 200 with a list, whose size is not bounded by the number of its rows alone. */
export function jsonList(
  name: string,
  rows: AsyncIterable<unknown>,
  behind: Readonly<Record<string, unknown>> = {},
): Answer {
  return { status: 200, list: { name, rows, behind } };
}

export function empty(status: number): Answer {
  return { status };
}

/** Events that are an answer themselves: a gateway that stops lets them end within its grace time. */
export function eventStream(events: AsyncGenerator<string>): Answer {
  return { status: 200, events };
}

/** Events of something that goes on without them. */
export function followingStream(events: AsyncGenerator<string>): Answer {
  return { status: 200, events, follows: true };
}

export function relayed(status: number, answer: NonNullable<Answer['relayed']>): Answer {
  return {
    status,
    relayed: answer,
  };
}
