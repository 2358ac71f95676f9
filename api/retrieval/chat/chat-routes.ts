import {
  ChatAnswer,
  ChatRequest,
  CompletionAnswer,
  CompletionRequest,
} from '../../../schemas/retrieval/chat-api.js';
import { orLate } from '../../../activities/temporal/or-late.js';
import { eventStream, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { badRequest } from '../../../schemas/request-issues.js';
import { beginChat, firstEvent } from './begin-chat.js';
import { answerFrame, chatAnswer } from './chat-answer.js';
import { chatStream } from './chat-stream.js';
import { collectAnswer } from './collect-answer.js';
import { completionAnswer } from './completion-answer.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { readChatRequest } from './read-chat-request.js';

const ERRORS = [
  'BAD_REQUEST',
  'AUTH_ERROR',
  'NOT_FOUND',
  'PARTITION_NOT_FOUND',
  'FILE_NOT_FOUND',
  'PRESET_NOT_FOUND',
  'WORKSPACE_NOT_FOUND',
  'WORKSPACE_AMBIGUOUS',
  'CONTEXT_TOO_LONG',
  'VALIDATION_ERROR',
  'DEFAULT_EMBEDDER_MIGRATION_REQUIRED',
  'INFERENCE_REFUSED',
  'INFERENCE_ERROR',
  'INFERENCE_TIMEOUT',
  'LLM_PARSING_ERROR',
] as const;

/**
 * The one text that is asked; many clients put it into a list.
 * @throws AppError BAD_REQUEST
 */
function promptIn({ prompt }: CompletionRequest): string {
  if (prompt == null) throw badRequest("'prompt' is required");
  const [text, ...others] = [prompt].flat();
  if (typeof text !== 'string' || others.length > 0)
    throw badRequest("'prompt' must be one text, or a list of one text; tokens are not taken");
  if (text.trim() === '') throw badRequest("'prompt' must not be empty");
  return text;
}

/** The chat-completions surface; clients that know the OpenAI format address a partition as a model. */
export function chatRoutes({ adapters, config, chat }: GatewayDeps): Route[] {
  const { modelIdPrefix, heartbeatMs } = config.chat;
  const linksOf = (baseUrl: string) => links(baseUrl, { originals: config.documents.saveUploadedFiles });

  return [
    route({
      method: 'post',
      path: '/v1/chat/completions',
      summary: 'Answer a question from the documents, with sources; streamed when `stream` is true',
      tag: 'Chat',
      auth: 'user',
      request: { body: ChatRequest },
      responses: {
        200: { description: 'The answer, or server-sent events', schema: ChatAnswer, orEvents: true },
      },
      errors: ERRORS,
      async handle(ctx, { body }) {
        const link = linksOf(ctx.baseUrl);
        const frame = answerFrame('chatcmpl', body.model);
        const request = await readChatRequest(adapters, modelIdPrefix, ctx, body, body.messages);
        const begun = beginChat(chat, request);
        if (body.stream !== true)
          return json(200, chatAnswer(frame, await collectAnswer(await firstEvent(begun), begun.rest), link));
        // What fails soon is answered with its status; what takes longer is told inside the stream.
        await orLate(begun.first, heartbeatMs);
        const includeUsage = body.stream_options?.include_usage === true;
        const { log, signal } = ctx;
        const options = { frame, link, log, includeUsage, heartbeatMs, signal };
        return eventStream(chatStream(begun.first, begun.rest, options));
      },
    }),
    route({
      method: 'post',
      path: '/v1/completions',
      summary: 'Answer a prompt from the documents, in the older text format',
      tag: 'Chat',
      auth: 'user',
      request: { body: CompletionRequest },
      responses: { 200: { description: 'The answer', schema: CompletionAnswer } },
      errors: ERRORS,
      async handle(ctx, { body }) {
        const prompt = promptIn(body);
        if (body.stream === true) throw badRequest('Streaming is not supported for this endpoint');
        if (body.best_of != null && body.best_of !== 1) throw badRequest("'best_of' must be 1");
        if (body.suffix != null && body.suffix !== '') throw badRequest("'suffix' is not supported");
        const frame = answerFrame('cmpl', body.model);
        const messages = [{ role: 'user' as const, content: prompt }];
        const begun = beginChat(chat, await readChatRequest(adapters, modelIdPrefix, ctx, body, messages));
        const answer = await collectAnswer(await firstEvent(begun), begun.rest);
        const echoed = body.echo === true ? prompt : '';
        return json(200, completionAnswer(frame, answer, linksOf(ctx.baseUrl), echoed));
      },
    }),
  ];
}
