import { ValueError } from '@temporalio/common';
import { payloadCodecOf } from '../../activities/temporal/data-converter.js';
import { AppError } from '../../schemas/app-error.js';
import { CodecBody } from '../../schemas/migrations/codec-api.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { json, route } from '../http/route.js';
import type { Route } from '../http/route.js';

/** Of Temporal's UI and of its command line; `encode` and `decode` follow. */
export const CODEC_PATH = '/admin/temporal/codec';

/**
 * The codec server that Temporal's UI and command line ask for what is encrypted (`TEMPORAL_ENCRYPT_PAYLOADS`), in
 * their protocol: https://docs.temporal.io/codec-server
 */
export function codecRoutes({ config }: Pick<GatewayDeps, 'config'>): Route[] {
  const codec = payloadCodecOf(config);
  return (['encode', 'decode'] as const).map((direction) =>
    route({
      method: 'post',
      path: `${CODEC_PATH}/${direction}`,
      summary:
        direction === 'decode'
          ? 'What Temporal keeps encrypted, decrypted'
          : 'The same the other way round, for what is started by hand',
      tag: 'Temporal',
      auth: 'admin',
      request: { body: CodecBody },
      responses: { 200: { description: 'The payloads in their order', schema: CodecBody } },
      async handle(_ctx, { body }) {
        const payloads = body.payloads.map(({ metadata, data }) => ({
          metadata: Object.fromEntries(
            Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
          ),
          data: Buffer.from(data, 'base64'),
        }));
        const answered = await codec[direction](payloads).catch((error: unknown) => {
          // Of no use to repeat: another key, or bytes that are no payload of ours.
          if (error instanceof ValueError)
            throw new AppError('VALIDATION_ERROR', error.message, { status: 400, cause: error });
          throw error;
        });
        return json(200, {
          payloads: answered.map(({ metadata, data }) => ({
            metadata: Object.fromEntries(
              Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
            ),
            data: base64(data ?? new Uint8Array()),
          })),
        });
      },
    }),
  );
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
