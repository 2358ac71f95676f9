import { AppError } from '../../../schemas/app-error.js';
import { fillPrompt } from '../../../schemas/models/prompts.js';
import type { ChatMessage, LanguageModel } from '../../ports/models.js';
import { askBriefly } from './ask-model.js';
import { parseRewriting } from './parse-rewriting.js';
import type { Rewriting } from './parse-rewriting.js';

/** Both from the wire contract: sections 1.9 and 2. */
const MAX_TOKENS = 512;
const ATTEMPTS = 2;
const TOGETHER_MS = 3000;

/**
 * A model that failed so many users, or one so often in a row, is not asked for a while: it would cost every question
 * the whole time. What one of them asks can be at fault itself.
 */
const USERS_TO_REST = 2;
const FAILURES_TO_REST = 5;
const REST_MS = 10 * 60_000;
/** Overrides may name any number of models. */
const MAX_REMEMBERED = 100;

function speak({ role, content }: ChatMessage): string {
  return `${role}: ${content}`;
}

export interface RewritingRequest {
  model: LanguageModel;
  /** With a client's own key, or at its own address: what fails there says nothing of the model that others ask. */
  isClients: boolean;
  /** Who asks. */
  userId: number;
  /** With the slots of `query_contextualizer`. */
  prompt: string;
  messages: readonly ChatMessage[];
  /** So many of the last messages are looked at. */
  historyDepth: number;
  date: Date;
  signal: AbortSignal;
}

export interface QuestionRewriter {
  /** Null when the model could not, in time; `resting` when it was not even asked. */
  rewrite(request: RewritingRequest): Promise<Rewriting | 'resting' | null>;
}

/**
 * Asks the model for stand-alone queries. What comes of it is optional, so nothing is thrown but the caller's own
 * abort: small models answer prose where JSON was asked for, and slow ones would delay every answer.
 */
export function createQuestionRewriter(
  options: { now?: () => number; togetherMs?: number } = {},
): QuestionRewriter {
  const { now = () => performance.now(), togetherMs = TOGETHER_MS } = options;
  const failures = new Map<string, { count: number; users: Set<number>; at: number }>();
  const failed = (key: string | null, userId: number): void => {
    if (key === null) return;
    const { count = 0, users = new Set<number>() } = failures.get(key) ?? {};
    failures.delete(key);
    failures.set(key, { count: count + 1, users: users.add(userId), at: now() });
    const oldest = failures.keys().next();
    if (failures.size > MAX_REMEMBERED && oldest.done !== true) failures.delete(oldest.value);
  };

  const rests = (key: string | null): boolean => {
    const known = key === null ? undefined : failures.get(key);
    if (known === undefined || now() - known.at >= REST_MS) return false;
    return known.users.size >= USERS_TO_REST || known.count >= FAILURES_TO_REST;
  };

  return {
    async rewrite({ model, isClients, userId, prompt, messages, historyDepth, date, signal }) {
      const key = isClients ? null : JSON.stringify([model.endpointName, model.modelName]);
      if (rests(key)) return 'resting';
      // Behind the question, an assistant may have asked for tools: what they came to is no question.
      const asked = messages.findLastIndex(({ role }) => role === 'user');
      const talk = messages.slice(0, asked + 1).filter(({ role }) => role === 'user' || role === 'assistant');
      const question = talk.at(-1)?.content ?? '';
      const history = talk.slice(-Math.max(1, historyDepth), -1).map(speak).join('\n');
      const values = {
        query: question,
        chat_history: history,
        current_date: date.toISOString().slice(0, 10),
      };
      const prompted: ChatMessage[] = [
        { role: 'system', content: fillPrompt(prompt, values) },
        {
          role: 'user',
          content: `${history === '' ? '' : `Conversation:\n${history}\n\n`}Last message:\n${question}`,
        },
      ];
      const started = now();
      let isTooLong = false;
      const onFailure = (error: unknown): void => {
        isTooLong = error instanceof AppError && error.code === 'CONTEXT_TOO_LONG';
      };
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const withinMs = togetherMs - (now() - started);
        const limits = { maxTokens: MAX_TOKENS, withinMs, signal, onFailure };
        const answer = await askBriefly(model, prompted, limits);
        // A server that fails, or is slow, will not do better at once.
        if (answer === null) break;
        const rewriting = parseRewriting(answer);
        if (rewriting === null) continue;
        if (key !== null) failures.delete(key);
        return rewriting;
      }
      if (!isTooLong) failed(key, userId);
      return null;
    },
  };
}
