import type { ChatMessage, MoreFields } from '../../../activities/ports/models.js';
import type { Adapters } from '../../../activities/ports/adapters.js';
import type { ChatRequest as ServiceRequest } from '../../../activities/retrieval/chat/chat-request.js';
import { questionIn } from '../../../activities/retrieval/chat/chat-service.js';
import type { ChatRequest, CompletionRequest } from '../../../schemas/retrieval/chat-api.js';
import type { CallerContext } from '../../http/route.js';
import { noSuchFile } from '../../../activities/documents/commands/refusals.js';
import { badRequest, invalidRequest } from '../../../schemas/request-issues.js';
import { chatSettings } from './chat-settings.js';
import { readChatOptions } from './read-chat-options.js';
import { resolveModel } from './resolve-model.js';

const DEFAULT_TEMPERATURE = 0.3;

/** Fields with a meaning of our own; the rest is handed on to the model server. */
const READ_HERE: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'prompt',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'stream',
  'stream_options',
  'metadata',
  'n',
  'best_of',
  'echo',
  'logprobs',
  'suffix',
]);

type Message = ChatRequest['messages'][number];

type Part = Extract<Message['content'], readonly unknown[]>[number];

function isText(part: Part): part is Extract<Part, { text: string }> {
  return part.type === 'text';
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .filter(isText)
    .map(({ text }) => text)
    .join('\n');
}

/**
 * Pictures and the like are left out of what was said before, so that a conversation with one goes on. From the last
 * question on the answer may depend on them.
 * @throws AppError VALIDATION_ERROR
 */
function refuseOtherParts(messages: readonly Message[]): void {
  const question = messages.findLastIndex(({ role }) => role === 'user');
  for (const [index, { content }] of messages.entries()) {
    if (index < question || !Array.isArray(content)) continue;
    const other = content.findIndex((part) => !isText(part));
    if (other === -1) continue;
    const type = content[other]?.type;
    const loc = ['body', 'messages', index, 'content', other, 'type'];
    const msg = `Parts of type 'text' are taken, not '${type}'`;
    throw invalidRequest([{ type: 'unsupported_part', loc, msg, input: type }]);
  }
}

/** Newer clients call the operator's words the developer's; model servers may not know that name. */
function messageOf({ role, content, ...more }: Message): ChatMessage {
  return {
    role: role === 'developer' ? 'system' : role,
    content: textOf(content),
    ...(Object.keys(more).length > 0 && { more }),
  };
}

/** A number asks for so many alternatives, as in the older format. */
function logprobsOf(logprobs: boolean | number | null | undefined): Record<string, unknown> {
  if (typeof logprobs !== 'number') return logprobs == null ? {} : { logprobs };
  return { logprobs: true, ...(logprobs > 0 && { top_logprobs: logprobs }) };
}

function moreOf(body: ChatRequest | CompletionRequest): MoreFields {
  return {
    ...Object.fromEntries(
      Object.entries(body).filter(([name, value]) => !READ_HERE.has(name) && value != null),
    ),
    ...logprobsOf(body.logprobs),
  };
}

/** Whether the model server gets fields of the client's. The temperature says nothing: one is set in any case. */
function setsFields(
  body: ChatRequest | CompletionRequest,
  messages: readonly ChatMessage[],
  more: MoreFields,
): boolean {
  return (
    Object.keys(more).length > 0 ||
    [body.top_p, body.stop, body.max_tokens, body['max_completion_tokens']].some((field) => field != null) ||
    messages.some((message) => message.more !== undefined)
  );
}

function isAsked(value: unknown): boolean {
  const { type } = (value ?? {}) as { type?: unknown };
  return value != null && value !== false && type !== 'text';
}

/** What would make it another answer than the one asked for is refused; to drop it silently would be a lie. */
function refuseUnsupported(body: ChatRequest | CompletionRequest, direct: boolean): void {
  if (body.n != null && body.n !== 1) throw badRequest("'n' must be 1");
  if (direct && (body.metadata?.attachments ?? []).length > 0)
    throw badRequest("'metadata.attachments' needs a partition as the model");
  if (direct && body.metadata?.preset != null)
    throw badRequest("'metadata.preset' needs a partition as the model");
  const isVerified = body.metadata?.require_verified != null && body.metadata.require_verified !== false;
  if (!isVerified) return;
  if (direct) throw badRequest("'metadata.require_verified' needs a partition as the model");
  const unfit = ['response_format', 'logprobs', 'tools'].find((name) => isAsked(body[name]));
  if (unfit !== undefined)
    throw badRequest(`'metadata.require_verified' checks sentences, and cannot go with '${unfit}'`);
}

/** The one file that is searched. @throws AppError BAD_REQUEST, FILE_NOT_FOUND, plain */
async function fileOf(
  files: Pick<Adapters['files'], 'get'>,
  target: ServiceRequest['target'],
  fileId: string | null | undefined,
): Promise<Pick<ServiceRequest, 'fileKey'>> {
  if (fileId == null) return {};
  const [partition] = target.kind === 'direct' || target.partitions === 'all' ? [] : target.partitions;
  if (partition === undefined) throw badRequest("'metadata.file_id' needs one partition as the model");
  const file = await files.get(partition, fileId);
  if (file === null || file.live === null) throw noSuchFile({ partition, fileId });
  return { fileKey: file.file_key };
}

/**
 * A request in the OpenAI format as the chat pipeline takes it: the model resolved and the caller's role on it checked,
 * the partition's settings, and what the client asks for itself, which wins.
 *
 * @throws AppError VALIDATION_ERROR, BAD_REQUEST, NOT_FOUND, PARTITION_NOT_FOUND, FILE_NOT_FOUND, PRESET_NOT_FOUND,
 * AUTH_ERROR
 */
export async function readChatRequest(
  adapters: Pick<Adapters, 'partitions' | 'presets' | 'models' | 'files'>,
  modelIdPrefix: string,
  ctx: Pick<CallerContext, 'scope' | 'principal' | 'signal'>,
  body: ChatRequest | CompletionRequest,
  given: readonly Message[],
): Promise<ServiceRequest> {
  refuseOtherParts(given);
  const messages = given.map(messageOf);
  questionIn(messages);
  const { temperature, top_p: topP, stop, max_tokens: maxTokens, max_completion_tokens: newer } = body;
  const most = maxTokens ?? (typeof newer === 'number' ? newer : undefined);
  const options = readChatOptions(body.metadata, ctx.principal.isAdmin);
  const target = await resolveModel(adapters, ctx.scope, modelIdPrefix, body.model);
  refuseUnsupported(body, target.kind === 'direct');
  const more = moreOf(body);
  return {
    scope: ctx.scope,
    target,
    messages,
    signal: ctx.signal,
    ...(await chatSettings(adapters, target, body.metadata?.preset)),
    ...(await fileOf(adapters.files, target, body.metadata?.file_id)),
    ...options,
    temperature: temperature ?? DEFAULT_TEMPERATURE,
    ...(topP == null ? {} : { topP }),
    ...(most === undefined ? {} : { maxTokens: most }),
    ...(stop == null ? {} : { stop: [stop].flat() }),
    ...(Object.keys(more).length > 0 && { more }),
    ...(setsFields(body, messages, more) && { ownFields: true }),
  };
}
