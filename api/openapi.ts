import type { z } from 'zod';
import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { DomainError, InvalidRequest, PlainError } from '../schemas/documents-api.js';
import { ERROR_TABLE } from '../schemas/error-table.js';
import type { ErrorCode } from '../schemas/error-table.js';
import type { Route } from './route.js';
import { serviceVersion } from './service-version.js';

const BEARER = 'bearer';

/** The OpenAPI 3.1 document, made from the same objects that serve the requests. */
export const openApiDocument = (routes: readonly Route[]): object => {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Tamis',
      version: serviceVersion,
      description: 'Document question answering and threat-signal filtering, on durable workflows.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: { securitySchemes: { [BEARER]: { type: 'http', scheme: 'bearer' } } },
  });
};

const operationOf = (route: Route): ZodOpenApiOperationObject => {
  const { request } = route;
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: whoMay(route),
    tags: [route.tag],
    security: route.auth === 'public' ? [] : [{ [BEARER]: [] }],
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
};

const operationId = ({ method, path }: Route): string => {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [method, ...words].join('_');
};

const whoMay = ({ auth }: Route): string => {
  if (auth === 'public') return 'Open to everyone.';
  if (auth === 'user') return 'For any user.';
  return auth === 'admin'
    ? 'For administrators.'
    : `For a member with at least the role \`${auth.partition}\`.`;
};

const requestBody = ({ request }: Route): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (request?.body)
    return { requestBody: { required: true, content: { 'application/json': { schema: request.body } } } };
  if (request?.multipart)
    return {
      requestBody: { required: true, content: { 'multipart/form-data': { schema: request.multipart } } },
    };
  return {};
};

const successes = (route: Route): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema, contentType }]) => [
      status,
      {
        description,
        ...(schema ? { content: { [contentType ?? 'application/json']: { schema } } } : {}),
      },
    ]),
  );

/** Errors by status; a status that several codes share lists them all. */
const failures = (route: Route): Record<string, ZodOpenApiResponseObject> => {
  const codes = new Set<ErrorCode>([
    ...(route.errors ?? []),
    ...(route.auth === 'public' ? [] : ['AUTH_ERROR' as const]),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const schema: z.ZodType = sharing.includes('VALIDATION_ERROR')
        ? InvalidRequest
        : PlainError.or(DomainError);
      return [
        String(status),
        { description: sharing.join(', '), content: { 'application/json': { schema } } },
      ];
    }),
  );
};
