import { AppError } from '../../schemas/app-error.js';
import type { ChatMessage } from '../../activities/ports.js';
import type {
  ChatEvent,
  ChatRequest as ChatServiceRequest,
} from '../../activities/retrieval/chat-service.js';
import { ChatAnswer, ChatRequest, ModelList } from '../../schemas/documents-api.js';
import { eventStream, json, route } from '../route.js';
import type { CallerContext, Route } from '../route.js';
import { chatAnswer, chatFrame } from './chat-answer.js';
import { chatStream } from './chat-stream.js';
import { chatSettings } from './chat-settings.js';
import type { DocumentDeps } from './document-deps.js';
import { links } from './links.js';
import { modelIds, resolveModel } from './resolve-model.js';
import { badRequest } from './bad-request.js';

const DEFAULT_TEMPERATURE = 0.3;
const OWNER = 'OpenRAG';

const textOf = (content: ChatRequest['messages'][number]['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n');

/** What would make it another answer than the one asked for is refused; to drop it silently would be a lie. */
const refuseUnsupported = (body: ChatRequest): void => {
  const asked: Record<string, boolean> = {
    tools: Array.isArray(body['tools']) && body['tools'].length > 0,
    functions: Array.isArray(body['functions']) && body['functions'].length > 0,
    n: typeof body['n'] === 'number' && body['n'] !== 1,
    logprobs: Boolean(body['logprobs']),
    response_format:
      body['response_format'] != null && (body['response_format'] as { type?: unknown }).type !== 'text',
    'metadata.workspace': body.metadata?.['workspace'] != null,
    'metadata.llm_override': body.metadata?.['llm_override'] != null,
    'metadata.attachments':
      Array.isArray(body.metadata?.['attachments']) && body.metadata['attachments'].length > 0,
  };
  for (const [name, given] of Object.entries(asked))
    if (given) throw badRequest(`'${name}' is not supported yet`);
};

const requireQuestion = (messages: readonly ChatMessage[]): void => {
  const last = messages.at(-1);
  if (last?.role !== 'user' || last.content.trim() === '')
    throw badRequest('The last message must be a non-empty user message');
};

/** The chat-completions surface; clients that know the OpenAI format address a partition as a model. */
export const chatRoutes = ({ adapters, config, chat }: DocumentDeps): Route[] => {
  const { modelIdPrefix } = config.chat;

  const serviceRequest = async (ctx: CallerContext, body: ChatRequest): Promise<ChatServiceRequest> => {
    const messages = body.messages.map(({ role, content }) => ({ role, content: textOf(content) }));
    requireQuestion(messages);
    refuseUnsupported(body);
    const { temperature, top_p: topP, max_tokens: maxTokens, stop } = body;
    const target = await resolveModel(adapters, ctx.scope, modelIdPrefix, body.model);
    return {
      scope: ctx.scope,
      target,
      ...(await chatSettings(adapters, target)),
      messages,
      temperature: temperature ?? DEFAULT_TEMPERATURE,
      ...(topP == null ? {} : { topP }),
      ...(maxTokens == null ? {} : { maxTokens }),
      ...(stop == null ? {} : { stop: [stop].flat() }),
      signal: ctx.signal,
    };
  };

  /** Up to its first event; what fails until then is answered with its own status. */
  const begin = async (request: ChatServiceRequest) => {
    const events = chat.respond(request);
    const first = await events.next().catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'CONTEXT_TOO_LONG')
        throw new AppError(error.code, error.message, { plain: true, cause: error });
      throw error;
    });
    if (first.done === true) throw new AppError('INFERENCE_ERROR', 'The language model gave no answer.');
    return { first: first.value, rest: events };
  };

  return [
    route({
      method: 'get',
      path: '/v1/models',
      summary: 'Partitions as models',
      tag: 'Chat',
      auth: 'user',
      responses: { 200: { description: 'Model names', schema: ModelList } },
      async handle({ scope }) {
        const ids = modelIds(modelIdPrefix);
        const entry = (id: string, created: number) =>
          ({ id, object: 'model', created, owned_by: OWNER }) as const;
        const partitions = await adapters.partitions.list(scope);
        return json(200, {
          object: 'list',
          data: [
            ...partitions.map(({ partition, created_at }) =>
              entry(ids.partition(partition), Math.floor(created_at.getTime() / 1000)),
            ),
            entry(ids.all, 0),
          ],
        });
      },
    }),
    route({
      method: 'post',
      path: '/v1/chat/completions',
      summary: 'Answer a question from the documents, with sources; streamed when `stream` is true',
      tag: 'Chat',
      auth: 'user',
      request: { body: ChatRequest },
      responses: { 200: { description: 'The answer, or server-sent events', schema: ChatAnswer } },
      errors: [
        'BAD_REQUEST',
        'AUTH_ERROR',
        'NOT_FOUND',
        'PARTITION_NOT_FOUND',
        'CONTEXT_TOO_LONG',
        'VALIDATION_ERROR',
        'INFERENCE_REFUSED',
        'INFERENCE_ERROR',
        'INFERENCE_TIMEOUT',
      ],
      async handle(ctx, { body }) {
        const link = links(ctx.baseUrl, { originals: config.documents.saveUploadedFiles });
        const frame = chatFrame(body.model);
        const { first, rest } = await begin(await serviceRequest(ctx, body));
        if (body.stream === true) {
          const includeUsage = body.stream_options?.include_usage === true;
          const { log, signal } = ctx;
          return eventStream(chatStream(first, rest, { frame, link, log, includeUsage, signal }));
        }
        let content = '';
        let next: ChatEvent = first;
        while (next.type === 'delta') {
          content += next.content;
          const step = await rest.next();
          if (step.done === true) throw new AppError('INFERENCE_ERROR', 'The answer broke off.');
          next = step.value;
        }
        // Nothing has been answered yet, so a broken answer can still be told by its status.
        if (next.error !== undefined) throw next.error;
        return json(200, chatAnswer(frame, content, next, link));
      },
    }),
  ];
};
