import { retryAfterMs } from '../../outbound/retry-after.js';
import { ProviderFailure } from './provider-failure.js';
import type { FailureKind } from './provider-failure.js';

const MESSAGE_MAX_CHARACTERS = 300;

/**
 * How servers say that an input is too long: Ollama ("the input length exceeds the context length"), llama.cpp
 * ("input is too large to process"), vLLM ("maximum context length is"), TEI ("must have less than 512 tokens").
 */
const TOO_LONG =
  /context (?:length|window|size)|maximum (?:context|sequence|input)|too (?:long|large|many tokens)|less than \d+ tokens|exceeds? .{0,300}(?:tokens|length)/i;

/**
 * How OpenAI refuses `max_tokens` beyond the longest answer of its model. No shorter prompt cures that, unlike what
 * vLLM says nearly in the same words, of an answer for which the context has no room.
 */
const ANSWER_TOO_LONG = /supports at most \d+ completion tokens/i;

/**
 * How OpenAI refuses a field that is too long in itself: "Invalid 'stop': array too long. Expected an array with
 * maximum length 4, …". Only for messages and what is embedded does less text cure that.
 */
const FIELD_TOO_LONG =
  /Invalid '(?!messages'|messages[^']{0,100}content|input)[^']{1,300}': (?:array|string) too long/i;

/**
 * What servers answer with 500, or in the midst of a stream, though it comes of what was asked: a schema or grammar
 * that they do not take (Ollama, llama.cpp), messages that the model's template does not (llama.cpp, vLLM), a text of
 * which the model makes a vector of NaN (Ollama). Asked again it is answered the same, and other requests are not.
 */
const ABOUT_REQUEST =
  /invalid (?:json schema|grammar)|failed to (?:parse|load|initialize) grammar|jinja|chat template|roles must alternate|system message must be at the beginning|unsupported value: (?:NaN|[+-]Inf)/i;

function kindOf(sentence: string): FailureKind {
  return ABOUT_REQUEST.test(sentence) ? 'refused' : 'failed';
}

/** What a server says in the midst of its answer, where it goes no further. */
export function gaveUp(error: unknown, cause?: unknown): ProviderFailure {
  const sentence = String(error).slice(0, MESSAGE_MAX_CHARACTERS);
  return new ProviderFailure(kindOf(sentence), `the provider gave up: ${sentence}`, { cause });
}

/** The sentence in an error body: `{error: "…"}`, `{error: {message}}`, `{message}`, `{detail}`, or plain text. */
function sentenceIn(body: string): string {
  let found: unknown = body;
  try {
    const parsed = JSON.parse(body) as { error?: unknown; message?: unknown; detail?: unknown } | null;
    const inner = parsed?.error ?? parsed?.message ?? parsed?.detail ?? '';
    found = typeof inner === 'object' && inner !== null && 'message' in inner ? inner.message : inner;
  } catch {
    // Plain text only: a page of HTML explains nothing.
    if (/^\s*</.test(body)) found = '';
  }
  const text = typeof found === 'string' ? found : JSON.stringify(found);
  return text.replace(/\s+/g, ' ').trim().slice(0, MESSAGE_MAX_CHARACTERS);
}

/** A status other than 2xx as a failure. What was said about credentials is left out: some servers quote the key. */
// eslint-disable-next-line complexity -- a table of status codes
export function refusal(
  status: number,
  body: string,
  retryAfter: string | undefined,
  now: number,
): ProviderFailure {
  const sentence = sentenceIn(body);
  const said = sentence === '' ? `the provider answered ${status}` : sentence;
  const wait = retryAfterMs(retryAfter, now) ?? undefined;
  const failure = (kind: FailureKind, message = said): ProviderFailure =>
    new ProviderFailure(kind, message, { retryAfterMs: wait, status });
  if (status === 401 || status === 403)
    return failure('credentials', `the provider refused our credentials (${status})`);
  if (status === 404) return failure('unknown-model');
  if (status === 408 || status === 504) return failure('timeout');
  if (status === 400 && (ANSWER_TOO_LONG.test(sentence) || FIELD_TOO_LONG.test(sentence)))
    return failure('refused');
  if (status === 413 || ((status === 400 || status === 422 || status >= 500) && TOO_LONG.test(sentence)))
    return failure('too-long');
  if (status === 429) return failure('rate-limited');
  if (status >= 500) return failure(kindOf(sentence));
  if (status >= 400) return failure('refused');
  return failure('bad-answer', `the provider answered ${status}, which is no answer`);
}
