import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { PagePicture } from '../../../activities/documents/parsing/parser-messages.js';
import { AppError } from '../../../schemas/app-error.js';
import { PageMarks, PageQuery } from '../../../schemas/documents/documents-api.js';
import { findExtract } from '../../retrieval/search/find-extract.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { clientHas } from '../../http/client-has.js';
import { createPlaces } from '../../http/places.js';
import { json, route } from '../../http/route.js';
import type { CallerContext, Route } from '../../http/route.js';
import type { ScratchRoom } from './scratch-room.js';

/** Pages drawn at once in one gateway, and for one caller. */
const MAX_CONCURRENT = 8;
const MAX_OF_CALLER = 4;
const TOO_MANY = 'Too many pages are being drawn; try again soon.';
/** A4 at 150 dots an inch has 2.2 million. */
const MAX_PIXELS = 4_000_000;
const MAX_MS = 20_000;
const MAX_PASSAGE = 8_000;

const Params = z.object({ extract_id: z.string() });
const ERRORS = [
  'AUTH_ERROR',
  'NOT_FOUND',
  'FILE_CORRUPT',
  'FILE_ENCRYPTED',
  'PARSE_TIMEOUT',
  'SERVICE_UNAVAILABLE',
] as const;

interface Drawn {
  page: number;
  png: Buffer;
  picture: PagePicture;
}

/** The page of a PDF that an extract stands on, as a picture, and where on it. */
export function pageRoutes({ adapters, config, tools }: GatewayDeps, scratch: ScratchRoom): Route[] {
  const drawing = createPlaces(MAX_CONCURRENT, MAX_OF_CALLER, TOO_MANY);

  const find = async ({ scope }: Pick<CallerContext, 'scope'>, extractId: string) => {
    const { chunk, version } = await findExtract(adapters, scope, extractId);
    const kept =
      config.documents.saveUploadedFiles && (await adapters.blobs.info(version.upload_id)) !== null;
    if (version.mimetype !== 'application/pdf' || chunk.page === null || !kept)
      throw new AppError('NOT_FOUND', 'There is no page of a PDF to show for this extract', { plain: true });
    return { chunk, version, page: chunk.page };
  };

  const draw = (
    { signal, principal }: CallerContext,
    { page, version }: Awaited<ReturnType<typeof find>>,
    passage: string,
  ): Promise<Drawn> => {
    const where = { parent: tools.scratchDirectory, prefix: 'page-', userId: principal.userId };
    return scratch.use(where, async (directory, room) => {
      room.take(version.size_bytes);
      const [path, outputPath] = [join(directory, 'file.pdf'), join(directory, 'page.png')];
      await pipeline(await adapters.blobs.read(version.upload_id), createWriteStream(path), { signal });
      const { picture } = await tools.parser.drawPage({
        path,
        outputPath,
        page,
        passage: passage.slice(0, MAX_PASSAGE),
        signal,
        userId: principal.userId,
        limits: { timeoutMs: MAX_MS, maxPixels: MAX_PIXELS },
      });
      return { page, png: await readFile(outputPath), picture: picture! };
    });
  };
  const drawInTurn = async (...asked: Parameters<typeof draw>): Promise<Drawn> => {
    const release = drawing.take(asked[0].principal.userId);
    try {
      return await draw(...asked);
    } finally {
      release();
    }
  };

  return [
    route({
      method: 'get',
      path: '/extract/{extract_id}/page',
      summary: 'The page of a PDF that an extract begins on, as a picture',
      tag: 'Search',
      auth: 'user',
      request: { params: Params },
      responses: {
        200: { description: 'PNG', contentType: 'image/png', schema: z.string() },
        304: { description: 'The client has it' },
      },
      errors: ERRORS,
      async handle(ctx, { params }) {
        const found = await find(ctx, params.extract_id);
        const headers = {
          ETag: `"${found.version.content_sha256}-${found.page}"`,
          'Cache-Control': 'private, no-cache',
        };
        if (clientHas(ctx.koa, headers.ETag)) return { status: 304, headers };
        const { png } = await drawInTurn(ctx, found, '');
        return { status: 200, content: { type: 'image/png', data: png }, headers };
      },
    }),
    route({
      method: 'get',
      path: '/extract/{extract_id}/page/marks',
      summary: 'Where an extract, or a passage of it, stands on the picture of its page',
      tag: 'Search',
      auth: 'user',
      request: { params: Params, query: PageQuery },
      responses: { 200: { description: 'Marks; none where the passage is not found', schema: PageMarks } },
      errors: [...ERRORS, 'VALIDATION_ERROR'],
      async handle(ctx, { params, query }) {
        const found = await find(ctx, params.extract_id);
        const passage = [...found.chunk.text].slice(query.from, query.to).join('');
        const { page, picture } = await drawInTurn(ctx, found, passage);
        return json(200, { page, ...picture });
      },
    }),
  ];
}
