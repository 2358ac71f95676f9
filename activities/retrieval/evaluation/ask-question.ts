import { AppError } from '../../../schemas/app-error.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type {
  EvaluationQuestion,
  EvaluationSettings,
  QuestionResult,
} from '../../../schemas/retrieval/evaluation.js';
import type { ChatEnd } from '../chat/chat-request.js';
import type { ChatService } from '../chat/chat-service.js';
import { settingsOfChat } from '../chat/chat-settings.js';
import { searchSettings } from '../search/search-settings.js';
import type { SearchService } from '../search/search-types.js';
import { citedTexts, foundText, judgeAnswer, judgeSearch } from './judge-question.js';
import type { FoundText } from './match-relevant.js';

export interface AskingServices {
  search: Pick<SearchService, 'search'>;
  chat: Pick<ChatService, 'respond'>;
}

/** Where a question is asked, and how. */
export interface Asking extends Pick<EvaluationSettings, 'chat' | 'top_k'> {
  partition: PartitionRecord;
  config: RetrievalConfig | null;
  /** Only a threshold that the run itself sets: search takes it by the request and not from a preset. */
  similarityThreshold?: number;
  /** It has failed often enough: an error that may lie in the question is its result. */
  givesUp?: boolean;
  signal: AbortSignal;
}

/** Nothing of these lies in a question. */
const AWAY: ReadonlySet<ErrorCode> = new Set([
  'CIRCUIT_BREAKER_OPEN',
  'EMBEDDING_API_ERROR',
  'INFERENCE_CONNECTION_ERROR',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
  'VDB_CONNECTION_ERROR',
]);

/** Files that a result names. */
const SHOWN_FILES = 10;
/** Characters of an answer that a result keeps. */
const SHOWN_ANSWER = 2_000;

/** The partition alone, independent of the user that started the run. */
function scopeOf({ partition }: PartitionRecord): Scope {
  return { kind: 'partitions', userId: 0, roles: { [partition]: 'viewer' } };
}

/** What search answers to a text, as `GET /search/partition/{partition}` would. */
export async function searchFor(
  search: AskingServices['search'],
  text: string,
  asking: Omit<Asking, 'chat'> & { embedder?: string },
): Promise<FoundText[]> {
  const { partition, config, top_k: topK, similarityThreshold, embedder, signal } = asking;
  const found = await search.search({
    scope: scopeOf(partition),
    partitions: [partition.partition],
    text,
    topK,
    ...searchSettings(config),
    ...(similarityThreshold !== undefined && { similarityThreshold }),
    ...(embedder !== undefined && { embedder }),
    signal,
  });
  return found.map(foundText);
}

/** The whole of an answer, as `POST /v1/chat/completions` would give it, but for the temperature, which is 0. */
async function answerTo(
  chat: AskingServices['chat'],
  text: string,
  { partition, config, signal }: Asking,
): Promise<{ answer: string; end: ChatEnd }> {
  let answer = '';
  const events = chat.respond({
    scope: scopeOf(partition),
    target: { kind: 'retrieval', partitions: [partition.partition] },
    messages: [{ role: 'user', content: text }],
    ...settingsOfChat(partition, config),
    requireRetrieval: true,
    temperature: 0,
    signal,
  });
  for await (const event of events) {
    if (event.type === 'delta') answer += event.content;
    else if (event.error !== undefined) throw event.error;
    else return { answer, end: event };
  }
  throw new AppError('INFERENCE_ERROR', 'The language model gave no answer.');
}

/**
 * Asks one question of search, and of chat where the run wants that, and judges what comes.
 * A question that cannot be asked is a result as well, with the measures of finding nothing.
 * @throws AppError one that may pass: the question is asked again then; and the signal's reason
 */
export async function askQuestion(
  { search, chat }: AskingServices,
  question: EvaluationQuestion,
  index: number,
  asking: Asking,
): Promise<QuestionResult> {
  const result: QuestionResult = {
    index,
    question_id: question.id,
    question: question.question,
    measures: judgeSearch(question, []),
    found: [],
    search_ms: 0,
    chat: null,
    error: null,
  };
  try {
    const started = performance.now();
    const found = await searchFor(search, question.question, asking);
    result.search_ms = Math.round(performance.now() - started);
    result.measures = judgeSearch(question, found);
    result.found = [...new Set(found.map(({ fileId }) => fileId))].slice(0, SHOWN_FILES);
    if (!asking.chat) return result;
    const asked = performance.now();
    const { answer, end } = await answerTo(chat, question.question, asking);
    result.measures = { ...result.measures, ...judgeAnswer(question, answer, end) };
    result.chat = {
      answer: answer.slice(0, SHOWN_ANSWER),
      refused: end.refused,
      cited: [...new Set(citedTexts(end).map(({ fileId }) => fileId))],
      ms: Math.round(performance.now() - asked),
    };
    return result;
  } catch (error) {
    asking.signal.throwIfAborted();
    const failure = AppError.from(error);
    if (failure.retryable && (asking.givesUp !== true || AWAY.has(failure.code))) throw error;
    return { ...result, error: { code: failure.code, message: failure.message } };
  }
}
