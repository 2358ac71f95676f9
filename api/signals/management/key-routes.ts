import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  ApiKeyBody,
  ApiKeyParams,
  CreateApiKey,
  Done,
  KEY_SCOPES,
  NewApiKeyBody,
  RotateApiKey,
} from '../../../schemas/signals/api-keys.js';
import type { ApiKeyRecord } from '../../../schemas/signals/api-keys.js';
import { AppError } from '../../../schemas/app-error.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { KEY_PREFIX, keyDigest } from './check-api-key.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';

const KEY_BYTES = 32;
const tag = 'Proxy management';
const auth = { key: 'dashboard', scope: 'admin' } as const;

/** Named keys beside DASHBOARD_API_KEY, for holders of that one or of a key with the scope `admin`. */
export function keyRoutes({ keys, now }: Pick<ProxyDeps, 'keys' | 'now'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/keys',
      summary: 'The named keys; the keys themselves are never shown again',
      tag,
      auth,
      responses: { 200: { description: 'Keys', schema: z.array(ApiKeyBody) } },
      errors: ['UNEXPECTED_ERROR'],
      handle: async () =>
        json(200, (await reportFailure('Failed to get keys', () => keys.list())).map(presentKey)),
    }),
    route({
      method: 'post',
      path: '/api/keys',
      summary: 'A new key',
      tag,
      auth,
      request: { body: CreateApiKey },
      responses: { 201: { description: 'The key, shown this once', schema: NewApiKeyBody } },
      errors: ['BAD_REQUEST', 'CONFLICT', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { body }) {
        const key = newKey();
        const scopes = KEY_SCOPES.filter((scope) => body.scopes.includes(scope));
        const made = { id: randomUUID(), name: body.name, scopes };
        const at = now();
        const isNew = await reportFailure('Failed to create key', () =>
          keys.create({ ...made, digest: keyDigest(key), at }),
        );
        if (!isNew) throw new AppError('CONFLICT', 'A key of this name exists already');
        const record = { ...made, createdAt: at, rotatedAt: null, lastUsedAt: null, previousUntil: null };
        return json(201, { ...presentKey(record), key });
      },
    }),
    route({
      method: 'post',
      path: '/api/keys/{id}/rotate',
      summary: 'A new key in the place of the present one',
      tag,
      auth,
      request: { params: ApiKeyParams, body: RotateApiKey, bodyOptional: true },
      responses: { 200: { description: 'The key, shown this once', schema: NewApiKeyBody } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { params, body }) {
        const key = newKey();
        const at = now();
        const previousUntil =
          body.graceSeconds === 0 ? null : new Date(at.getTime() + body.graceSeconds * 1000);
        const record = await reportFailure('Failed to rotate key', () =>
          keys.rotate(params.id, { digest: keyDigest(key), previousUntil, at }),
        );
        if (record === null) throw noSuchKey();
        return json(200, { ...presentKey(record), key });
      },
    }),
    route({
      method: 'delete',
      path: '/api/keys/{id}',
      summary: 'Revokes a key at once',
      tag,
      auth,
      request: { params: ApiKeyParams },
      responses: { 200: { description: 'It is revoked', schema: Done } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'UNEXPECTED_ERROR'],
      async handle(_ctx, { params }) {
        const removed = await reportFailure('Failed to revoke key', () => keys.remove(params.id));
        if (removed === null) throw noSuchKey();
        return json(200, { success: true, message: `Key ${removed.name} revoked` });
      },
    }),
  ];
}

function newKey(): string {
  return `${KEY_PREFIX}${randomBytes(KEY_BYTES).toString('base64url')}`;
}

function noSuchKey(): AppError {
  return new AppError('NOT_FOUND', 'Key not found');
}

function presentKey(record: ApiKeyRecord): ApiKeyBody {
  return {
    id: record.id,
    name: record.name,
    scopes: record.scopes,
    createdAt: record.createdAt.toISOString(),
    rotatedAt: record.rotatedAt?.toISOString() ?? null,
    lastUsedAt: record.lastUsedAt?.toISOString() ?? null,
    previousUntil: record.previousUntil?.toISOString() ?? null,
  };
}
