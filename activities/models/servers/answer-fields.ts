import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import type { FinishReason, MoreFields, ChatReply } from '../../ports/models.js';
import { ProviderFailure } from './provider-failure.js';

function isSet(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
  );
}

/** Without effect unless they say something else than the default. */
const SAYS_NOTHING: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  best_of: (value) => value === 1,
  tool_choice: (value) => value === 'auto' || value === 'none',
  function_call: (value) => value === 'auto' || value === 'none',
  response_format: (value) => (value as { type?: unknown } | null)?.type === 'text',
  logit_bias: (value) => typeof value === 'object' && Object.keys(value ?? {}).length === 0,
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
};

/** Fields of the OpenAI format that make it another answer than the one without them. */
const CHANGES_THE_ANSWER = [
  'n',
  'best_of',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'response_format',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'modalities',
  'audio',
  'prediction',
  'web_search_options',
] as const;

export type AnswerField = (typeof CHANGES_THE_ANSWER)[number];

/**
 * A server that does not know a field would leave it out in silence; so it is refused here.
 * @throws AppError BAD_REQUEST that names the first field which changes the answer and is not among `known`
 */
export function refuseUnknownFields(
  more: MoreFields | undefined,
  known: readonly AnswerField[],
  who: string,
): void {
  const field = CHANGES_THE_ANSWER.find((name) => {
    const value = more?.[name];
    return isSet(value) && SAYS_NOTHING[name]?.(value) !== true && !known.includes(name);
  });
  if (field !== undefined)
    throw new AppError('BAD_REQUEST', `${who} does not support '${field}'.`, { plain: true });
}

/**
 * What affects every client of a server is no client's to set: how long it holds a model, whom it serves first.
 * @throws AppError BAD_REQUEST that names the first of these fields which is given
 */
export function refuseServerFields(more: MoreFields | undefined, fields: readonly string[]): void {
  const field = fields.find((name) => more?.[name] !== undefined);
  if (field !== undefined)
    throw new AppError('BAD_REQUEST', `'${field}' is not a client's to set.`, { plain: true });
}

const FINISH_REASONS: ReadonlySet<string> = new Set<FinishReason>([
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
]);

/** Further words for an answer that has reached its longest: Mistral's, and Anthropic's where a proxy hands it on. */
const TOO_LONG: ReadonlySet<string> = new Set(['model_length', 'max_tokens']);

/** Of an answer that the server itself gave up: Mistral, OpenRouter; vLLM and SGLang at a restart or an eviction. */
const GIVEN_UP: ReadonlySet<string> = new Set(['error', 'abort', 'aborted']);

/**
 * A finish reason that we do not know still means that the answer has come to its end.
 * @throws ProviderFailure `failed` where the reason says that it has not
 */
export function finishReasonOf(reason: string): FinishReason {
  if (GIVEN_UP.has(reason))
    throw new ProviderFailure('failed', `the provider ended its answer for the reason '${reason}'`);
  if (TOO_LONG.has(reason)) return 'length';
  return FINISH_REASONS.has(reason) ? (reason as FinishReason) : 'stop';
}

const TextPart = z.looseObject({ text: z.string().nullish() });
const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.union([z.string(), z.array(TextPart)]).nullish(),
});

function joined(parts: string | readonly z.output<typeof TextPart>[] | null | undefined): string {
  if (typeof parts === 'string') return parts;
  return (parts ?? []).map(({ text }) => text ?? '').join('');
}

/**
 * The content of a message or delta: a text, or parts as Mistral's models that reason write them, in which thoughts
 * stand beside the text. Parts of other types say nothing.
 */
export const MessageContent = z
  .union([z.string(), z.array(ContentPart)])
  .nullish()
  .transform((content) =>
    Array.isArray(content)
      ? {
          text: joined(content.filter(({ type }) => type === 'text')),
          thoughts: content.map(({ thinking }) => joined(thinking)).join(''),
        }
      : { text: content ?? '', thoughts: '' },
  );

/** A vector of an embedder. Where a model makes NaN of a text, llama.cpp writes null, as JSON has no such number. */
export const VectorValues = z
  .array(z.number().nullable())
  .transform((values) => values.map((value) => value ?? Number.NaN));

const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int() });

/** The token counts of an answer; nothing when the server gives none. */
export function openAiUsage(usage: unknown): Pick<ChatReply, 'usage'> {
  const parsed = Usage.safeParse(usage);
  if (!parsed.success) return {};
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = parsed.data;
  return { usage: { promptTokens, completionTokens } };
}
