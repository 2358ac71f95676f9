import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { PlainError } from '../../../schemas/documents/documents-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { readByteRange } from '../../http/byte-range.js';
import { clientHas } from '../../http/client-has.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { findExtract } from '../../retrieval/search/find-extract.js';

/** Types that a browser would run or render as a page of ours, whatever it is told. */
const ACTIVE_TYPE = /html|xml|svg|script|xhtml/i;
const PLAIN_BYTES = 'application/octet-stream';

/** In the type that it was uploaded with. */
const file = { description: 'The file', contentType: '*/*', schema: z.string() };

/** The source file of an extract, as links in answers name it. */
export function staticRoutes({ adapters, config }: GatewayDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/static/{extract_id}',
      summary: 'The source file of an extract, as a download; a browser may give the token as `token`',
      tag: 'Search',
      auth: 'user',
      tokenInQuery: true,
      request: {
        params: z.object({ extract_id: z.string() }),
        query: z.object({ token: z.string().optional() }),
      },
      responses: {
        200: file,
        206: { ...file, description: 'The range asked for' },
        304: { description: 'The client has it' },
        416: { description: 'There is no such range', schema: PlainError },
      },
      errors: ['AUTH_ERROR', 'NOT_FOUND'],
      async handle({ scope, koa }, { params }) {
        const { version } = await findExtract(adapters, scope, params.extract_id);
        const saved = config.documents.saveUploadedFiles
          ? await adapters.blobs.info(version.upload_id)
          : null;
        if (saved === null) throw new AppError('NOT_FOUND', 'The source file is not kept', { plain: true });
        const etag = `"${version.content_sha256}"`;
        const common = { 'Accept-Ranges': 'bytes', 'Cache-Control': 'private, no-cache', ETag: etag };
        if (clientHas(koa, etag)) return { status: 304, headers: common };
        const current = koa.get('If-Range') === '' || koa.get('If-Range') === etag;
        const range = current ? readByteRange(koa.get('Range'), saved.size) : null;
        if (range === 'unsatisfiable')
          return {
            ...json(416, { detail: 'Range Not Satisfiable' }),
            headers: { ...common, 'Content-Range': `bytes */${saved.size}` },
          };
        const { start, end } = range ?? { start: 0, end: saved.size };
        // Writes the header in the form of RFC 6266, whatever the name holds.
        koa.attachment(version.filename);
        return {
          status: range === null ? 200 : 206,
          content: {
            type: ACTIVE_TYPE.test(version.mimetype) ? PLAIN_BYTES : version.mimetype,
            data: await adapters.blobs.read(version.upload_id, { start, end }),
          },
          headers: {
            ...common,
            'Content-Length': String(end - start),
            ...(range === null ? {} : { 'Content-Range': `bytes ${start}-${end - 1}/${saved.size}` }),
          },
        };
      },
    }),
  ];
}
