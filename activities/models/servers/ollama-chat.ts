import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import type { ChatDelta, ChatMessage, FinishReason, MoreFields } from '../../ports/models.js';
import { refuseServerFields, refuseUnknownFields } from './answer-fields.js';
import type { ChatCall } from './model-server.js';

/**
 * The OpenAI format's fields in Ollama's own dialect, and its answers back. Source: github.com/ollama/ollama,
 * `api/types.go` and `openai/openai.go`, which does the same for Ollama's OpenAI face.
 */

const KNOWN = ['tools', 'response_format', 'logprobs', 'top_logprobs'] as const;

/** Sampling parameters that have the same name in both. */
const SAMPLING = ['seed', 'frequency_penalty', 'presence_penalty', 'top_k', 'min_p', 'repeat_penalty'];

/** Read from an answer's shape, or without any effect on it. */
const CONSUMED: ReadonlySet<string> = new Set([
  ...SAMPLING,
  'tools',
  'tool_choice',
  'response_format',
  'n',
  'logit_bias',
  'functions',
  'function_call',
  'options',
  'reasoning_effort',
  'parallel_tool_calls',
]);

const ToolCalls = z.array(
  z.looseObject({
    id: z.string().optional(),
    function: z.object({ name: z.string(), arguments: z.unknown() }),
  }),
);

/** Arguments are a JSON text there and an object here. */
function argumentsIn(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}

/** The tools that were called, by the id of the call. */
function calledTools(messages: readonly ChatMessage[]): Map<string, string> {
  const called = new Map<string, string>();
  for (const { more } of messages) {
    const calls = ToolCalls.safeParse(more?.['tool_calls']);
    for (const { id, function: tool } of calls.data ?? []) if (id !== undefined) called.set(id, tool.name);
  }
  return called;
}

/** The tool that a result is of: clients name the call, Ollama wants the tool (ollama/ollama `openai/openai.go`). */
function toolOf({ role, more }: ChatMessage, called: ReadonlyMap<string, string>): string | undefined {
  if (role !== 'tool' && role !== 'function') return undefined;
  const name = more?.['name'] ?? called.get(String(more?.['tool_call_id']));
  return typeof name === 'string' ? name : undefined;
}

function messageOf(
  { role, content, pictures = [], more }: ChatMessage,
  toolName: string | undefined,
): Record<string, unknown> & { role: string; content: string } {
  const calls = ToolCalls.safeParse(more?.['tool_calls']);
  return {
    // Ollama has one name for results.
    role: role === 'function' ? 'tool' : role,
    content,
    ...(pictures.length > 0 && { images: pictures.map(({ bytes }) => bytes.toString('base64')) }),
    ...(calls.success && {
      tool_calls: calls.data.map(({ function: { name, arguments: given } }) => ({
        function: { name, arguments: argumentsIn(given) },
      })),
    }),
    ...(toolName !== undefined && { tool_name: toolName }),
  };
}

/** `json`, a JSON schema, or nothing. */
function formatOf(responseFormat: unknown): unknown {
  const format = responseFormat as { type?: unknown; json_schema?: { schema?: unknown } } | null | undefined;
  if (format?.type === 'json_object') return 'json';
  return format?.type === 'json_schema' ? format.json_schema?.schema : undefined;
}

const EFFORTS: readonly unknown[] = ['low', 'medium', 'high'];

/**
 * How much a model is to think; Ollama's own field wins.
 * @throws AppError BAD_REQUEST for an effort that Ollama does not know
 */
function thinkingOf({ think, reasoning_effort: effort }: MoreFields): { think?: boolean | 'low' } {
  if (think != null || effort == null) return {};
  if (effort === 'none') return { think: false };
  if (!EFFORTS.includes(effort))
    throw new AppError(
      'BAD_REQUEST',
      "The model server (Ollama) takes 'none', 'low', 'medium' or 'high' as 'reasoning_effort'.",
      { plain: true },
    );
  return { think: effort as 'low' };
}

/** Ollama has no such field: what goes beyond one call is left out of its answer. */
export function wantsOneCall({ options }: Pick<ChatCall, 'options'>): boolean {
  return options.more?.['parallel_tool_calls'] === false;
}

function numbers(more: MoreFields): Record<string, unknown> {
  return Object.fromEntries(
    SAMPLING.flatMap((name) => {
      const value = more[name];
      if (typeof value === 'bigint') return [[name, Number(value)]];
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );
}

/**
 * `num_ctx` always: the default depends on the machine, and what does not fit would be dropped. `truncate` and `shift`
 * off: too long a prompt is refused instead of cut, an answer that reaches the end of the window ends there. The
 * library's types lag behind the server here (ollama/ollama `api/types.go`, ChatRequest).
 * @throws AppError BAD_REQUEST for a field that Ollama would leave out in silence, or that affects its other clients
 */
export function ollamaChatBody({ model, messages, options, contextTokens }: ChatCall) {
  const more = options.more ?? {};
  refuseUnknownFields(more, KNOWN, 'The model server (Ollama)');
  refuseServerFields(more, ['keep_alive']);
  const format = formatOf(more['response_format']);
  const called = calledTools(messages);
  const tools = more['tool_choice'] === 'none' ? undefined : more['tools'];
  const others = Object.entries(more).filter(([name, value]) => !CONSUMED.has(name) && value != null);
  return {
    ...(Object.fromEntries(others) as Record<string, never>),
    model,
    messages: messages.map((message) => messageOf(message, toolOf(message, called))) as {
      role: string;
      content: string;
    }[],
    truncate: false,
    shift: false,
    ...(Array.isArray(tools) && tools.length > 0 && { tools }),
    ...(format !== undefined && { format: format as string }),
    ...thinkingOf(more),
    options: {
      ...numbers(more),
      num_ctx: contextTokens,
      ...(options.temperature !== undefined && { temperature: options.temperature }),
      ...(options.topP !== undefined && { top_p: options.topP }),
      ...(options.maxTokens !== undefined && { num_predict: options.maxTokens }),
      ...(options.stop !== undefined && options.stop.length > 0 && { stop: options.stop }),
    },
  };
}

export const OllamaChunk = z.object({
  message: z.object({
    content: z.string(),
    thinking: z.string().optional(),
    tool_calls: ToolCalls.optional(),
  }),
  logprobs: z.array(z.looseObject({ token: z.string() })).optional(),
  done: z.boolean(),
  done_reason: z.string().optional(),
  prompt_eval_count: z.int().optional(),
  eval_count: z.int().optional(),
});
export type OllamaChunk = z.output<typeof OllamaChunk>;

/** Turns the parts of one answer into deltas; calls of tools are numbered over the whole answer, one or all of them. */
export function createOllamaReader(oneCall = false) {
  let calls = 0;
  const finishOf = ({ done_reason: reason }: OllamaChunk): FinishReason => {
    if (reason === 'length') return 'length';
    return calls > 0 ? 'tool_calls' : 'stop';
  };
  return (chunk: OllamaChunk): ChatDelta => {
    const { content, thinking, tool_calls: called = [] } = chunk.message;
    const toolCalls = oneCall ? called.slice(0, calls === 0 ? 1 : 0) : called;
    const more: Record<string, unknown> = {};
    if (thinking !== undefined && thinking !== '') more['reasoning_content'] = thinking;
    if (toolCalls.length > 0)
      more['tool_calls'] = toolCalls.map(({ id, function: { name, arguments: given } }) => ({
        index: calls++,
        id: id ?? `call_${randomUUID().replaceAll('-', '')}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(given ?? {}) },
      }));
    return {
      content,
      ...(Object.keys(more).length > 0 && { more }),
      ...(chunk.logprobs !== undefined && chunk.logprobs.length > 0 && { logprobs: chunk.logprobs }),
      ...(chunk.done && { finishReason: finishOf(chunk) }),
      ...(chunk.done && ollamaUsage(chunk)),
    };
  };
}

function ollamaUsage(chunk: OllamaChunk): Pick<ChatDelta, 'usage'> {
  return chunk.prompt_eval_count === undefined && chunk.eval_count === undefined
    ? {}
    : { usage: { promptTokens: chunk.prompt_eval_count ?? 0, completionTokens: chunk.eval_count ?? 0 } };
}
