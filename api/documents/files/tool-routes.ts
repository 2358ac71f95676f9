import type { z } from 'zod';
import type { AppError } from '../../../schemas/app-error.js';
import {
  ToolCall,
  ToolFileMetadata,
  ToolForm,
  ToolList,
  ToolResult,
} from '../../../schemas/documents/tools-api.js';
import { createPlaces } from '../../http/places.js';
import { invalidRequest, badRequest } from '../../../schemas/request-issues.js';
import { json, route } from '../../http/route.js';
import type { CallerContext, Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { extractText } from './extract-text.js';
import { receiveTemporary } from './receive-temporary.js';
import type { ScratchRoom } from './scratch-room.js';

const EXTRACT_TEXT = {
  name: 'extractText',
  description:
    'Reads a document of any type that can be indexed, but for audio and video, and answers its text (at most 20,000,000 characters).',
};

/** More files than this at once in one gateway, or of one caller, and callers are asked to come again. */
const MAX_CONCURRENT = 16;
const MAX_OF_CALLER = 8;
/** Bodies of one caller on their way: they take no place from others. */
const MAX_UPLOADS_OF_CALLER = 16;
const TOO_MANY = 'Too many files are being read; try again soon.';
/** A client waits for the answer: what takes longer belongs into a partition. */
const MAX_MS = 300_000;

function missing(field: string): AppError {
  return invalidRequest([{ type: 'missing', loc: ['body', field], msg: 'Field required', input: null }]);
}

/** A form field that holds JSON. @throws AppError BAD_REQUEST, plain */
function readField<Schema extends z.ZodType>(schema: Schema, name: string, text: string): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest(`'${name}' must be valid JSON`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? 'it' : `'${issue.path.join('.')}'`;
  throw badRequest(`'${name}' must be a JSON object in which ${place} is what it should be`);
}

/** Tools that clients may have executed (wire contract, section 1.9). */
export function toolRoutes({ config, tools }: GatewayDeps, scratch: ScratchRoom): Route[] {
  const timeoutMs = Math.min(config.parsing.timeoutSeconds * 1000, MAX_MS);
  const running = createPlaces(MAX_CONCURRENT, MAX_OF_CALLER, TOO_MANY);
  const uploads = createPlaces(Infinity, MAX_UPLOADS_OF_CALLER, TOO_MANY);

  const execute = ({ koa, signal, principal, admitAnew }: CallerContext): Promise<string> => {
    const where = { parent: tools.scratchDirectory, prefix: 'tool-', userId: principal.userId };
    return scratch.use(where, async (directory, room) => {
      const { file, fields } = await receiveTemporary(koa, {
        directory,
        maxBytes: config.http.maxUploadBytes,
        room,
        signal,
      });
      await admitAnew();
      if (file === null) throw missing('file');
      const { tool, metadata } = fields;
      if (tool === undefined) throw missing('tool');
      const { name } = readField(ToolCall, 'tool', tool);
      if (name !== EXTRACT_TEXT.name) throw badRequest(`Tool ${name.slice(0, 100)} not found`);
      const said = metadata === undefined ? {} : readField(ToolFileMetadata, 'metadata', metadata);
      const what = {
        name: said.name || file.originalName,
        mime: said.mime || null,
        userId: principal.userId,
      };
      const leave = running.take(principal.userId);
      try {
        return await extractText(
          { parser: tools.parser, timeoutMs },
          { ...file, directory, ...what },
          signal,
        );
      } finally {
        leave();
      }
    });
  };

  return [
    route({
      method: 'get',
      path: '/v1/tools',
      summary: 'Tools that can be executed',
      tag: 'Tools',
      auth: 'user',
      responses: { 200: { description: 'Tools', schema: ToolList } },
      handle: () => json(200, [EXTRACT_TEXT]),
    }),
    route({
      method: 'post',
      path: '/v1/tools/execute',
      summary: 'Execute a tool on a file; nothing of it is kept',
      tag: 'Tools',
      auth: 'user',
      request: { multipart: ToolForm },
      responses: { 200: { description: 'What the tool made of it', schema: ToolResult } },
      errors: [
        'BAD_REQUEST',
        'PAYLOAD_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
        'VALIDATION_ERROR',
        'FILE_ENCRYPTED',
        'FILE_CORRUPT',
        'FILE_TOO_COMPLEX',
        'UNSUPPORTED_CONTENT',
        'PARSE_TIMEOUT',
        'PARSER_CRASHED',
        'PARSER_INTERNAL_ERROR',
        'SERVICE_UNAVAILABLE',
      ],
      async handle(ctx) {
        const leave = uploads.take(ctx.principal.userId);
        try {
          return json(200, { message: await execute(ctx) });
        } finally {
          leave();
        }
      },
    }),
  ];
}
