import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import {
  DomainError,
  InvalidRequest,
  OpenAiErrors,
  PlainError,
} from '../../schemas/documents/documents-api.js';
import { ERROR_TABLE } from '../../schemas/error-table.js';
import type { ErrorCode } from '../../schemas/error-table.js';
import { ManagementError, RelayError, RelayMessage } from '../../schemas/signals/proxy-api.js';
import { neededScope } from './route.js';
import type { Route } from './route.js';
import { serviceVersion } from './service-version.js';
import { isOpenAiPath, isProbe, surfaceOf } from './surfaces.js';

const DOCUMENT_ERRORS = { plain: PlainError, domain: DomainError, invalid: InvalidRequest };

const SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  dashboardKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  capiToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'What a local API server got from the central API; it is passed on and not checked here.',
  },
} as const;

/** The methods of OpenAPI that a route for every method is shown under. */
const EVERY_METHOD = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'] as const;

/** The OpenAPI 3.1 document, made from the same objects that serve the requests. */
export function openApiDocument(routes: readonly Route[]): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const path = route.path.replace('{+', '{');
    const methods = route.method === 'all' ? EVERY_METHOD : [route.method];
    for (const method of methods)
      paths[path] = { ...paths[path], [method]: operationOf(route, `${method}_${path}`) };
  }
  const used = new Set(routes.flatMap((route) => schemeOf(route) ?? []));
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Tamis',
      version: serviceVersion,
      description: 'Document question answering and threat-signal filtering, on durable workflows.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      securitySchemes: Object.fromEntries([...used].map((name) => [name, SCHEMES[name]])),
    },
  });
}

function schemeOf({ auth }: Route): keyof typeof SCHEMES | null {
  if (auth === 'public') return null;
  if (typeof auth === 'object' && 'token' in auth) return 'capiToken';
  return typeof auth === 'object' && 'key' in auth ? 'dashboardKey' : 'bearer';
}

function operationOf(route: Route, name: string): ZodOpenApiOperationObject {
  const { request } = route;
  const scheme = schemeOf(route);
  return {
    operationId: operationId(name),
    summary: route.summary,
    description: whoMay(route),
    tags: [route.tag],
    security: scheme === null ? [] : [{ [scheme]: [] }],
    ...(request?.params || request?.query
      ? {
          requestParams: {
            ...(request.params ? { path: request.params } : {}),
            ...(request.query ? { query: request.query } : {}),
          },
        }
      : {}),
    ...requestBody(route),
    responses: { ...successes(route), ...failures(route) },
  };
}

function operationId(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .join('_');
}

function whoMay({ auth, method }: Route): string {
  if (auth === 'public') return 'Open to everyone.';
  if (auth === 'user') return 'For any user.';
  if (auth === 'admin') return 'For administrators.';
  if ('key' in auth)
    return `For holders of DASHBOARD_API_KEY, or of a key with the scope \`${neededScope({ auth, method })}\`.`;
  if ('token' in auth) return 'For local API servers; the central API checks their token.';
  const who = auth.admin === true ? 'an administrator who is a member' : 'a member';
  return `For ${who} with at least the role \`${auth.partition}\`.`;
}

function asForm(schema: z.ZodType) {
  return {
    'application/x-www-form-urlencoded': { schema },
    'multipart/form-data': { schema },
  };
}

function requestBody({ request }: Route): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  const body = request?.body ?? request?.ownBody;
  if (request?.form) return { requestBody: { required: true, content: asForm(request.form) } };
  if (body)
    return {
      requestBody: {
        required: request?.bodyAsForm === undefined && request?.bodyOptional !== true,
        content: {
          'application/json': { schema: body },
          ...(request?.bodyAsForm === undefined ? {} : asForm(request.bodyAsForm)),
        },
      },
    };
  if (request?.multipart)
    return {
      requestBody: { required: true, content: { 'multipart/form-data': { schema: request.multipart } } },
    };
  return {};
}

function successes(route: Route): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema, contentType, orEvents }]) => {
      const content = {
        ...(schema || contentType ? { [contentType ?? 'application/json']: schema ? { schema } : {} } : {}),
        ...(orEvents ? { 'text/event-stream': {} } : {}),
      };
      return [status, { description, ...(Object.keys(content).length > 0 ? { content } : {}) }];
    }),
  );
}

/** How a request is refused for the lack of what its scheme asks for. */
const REFUSALS: Readonly<Record<keyof typeof SCHEMES | 'none', readonly ErrorCode[]>> = {
  none: [],
  // 401: the session of the cookie has ended.
  bearer: ['AUTHENTICATION_ERROR', 'AUTH_ERROR', 'RATE_LIMITED'],
  dashboardKey: ['AUTHENTICATION_ERROR', 'AUTH_ERROR', 'RATE_LIMITED'],
  capiToken: [],
};

function errorSchema(route: Route, codes: readonly ErrorCode[]): z.ZodType {
  const scheme = schemeOf(route);
  if (scheme === 'dashboardKey' && surfaceOf(route.path).name !== 'documents') return ManagementError;
  // What CAPI answers itself is passed on, and has no `error`.
  if (scheme === 'capiToken') return RelayError.or(RelayMessage);
  const { plain, domain, invalid } = isOpenAiPath(route.path) ? OpenAiErrors : DOCUMENT_ERRORS;
  const said = plain.or(domain);
  const isInvalid = codes.some((code) => ERROR_TABLE[code].status === ERROR_TABLE.VALIDATION_ERROR.status);
  return isInvalid ? invalid.or(said) : said;
}

/** What may be said of any body before the route sees it. */
function bodyFaults({ request }: Route): ErrorCode[] {
  if (!request?.body && !request?.ownBody && !request?.form && !request?.multipart) return [];
  const forms = request.form ?? request.multipart ?? request.bodyAsForm;
  return [
    'REQUEST_TIMEOUT',
    'PAYLOAD_TOO_LARGE',
    'SERVICE_UNAVAILABLE',
    // A form that cannot be read at all.
    ...(forms === undefined ? [] : (['BAD_REQUEST', 'VALIDATION_ERROR'] as const)),
  ];
}

/** Whether there is a text that a parameter does not take. */
function isChoosy(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return isChoosy(schema.unwrap());
  return !(schema instanceof z.ZodString) || (schema.def.checks ?? []).length > 0;
}

/** What a request is refused for by the schemas of its parts, where that has a status of its own. */
function partFaults({ path, request }: Route): ErrorCode[] {
  if (surfaceOf(path).name !== 'documents') return [];
  const fields = [request?.params, request?.query].flatMap((part) =>
    Object.values<unknown>(part?.shape ?? {}),
  );
  return request?.body !== undefined || fields.some(isChoosy) ? ['VALIDATION_ERROR'] : [];
}

/** Requests without authentication are limited by address, but for probes and those of the proxy side. */
function addressLimits({ auth, path }: Route): ErrorCode[] {
  return auth === 'public' && surfaceOf(path).name === 'documents' && !isProbe(path) ? ['RATE_LIMITED'] : [];
}

/** Errors by status; a status that several codes share lists them all. */
function failures(route: Route): Record<string, ZodOpenApiResponseObject> {
  const codes = new Set<ErrorCode>([
    ...(route.errors ?? []),
    ...REFUSALS[schemeOf(route) ?? 'none'],
    ...bodyFaults(route),
    ...partFaults(route),
    ...addressLimits(route),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const schema = errorSchema(route, sharing);
      return [
        String(status),
        { description: sharing.join(', '), content: { 'application/json': { schema } } },
      ];
    }),
  );
}
