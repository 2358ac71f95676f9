import { expect } from '@jest/globals';
import type { ChatAdapters } from '../../../../activities/ports/chat.js';
import type {
  ChatDelta,
  ChatMessage,
  ChatOptions,
  LanguageModel,
} from '../../../../activities/ports/models.js';
import { bundledPromptSource } from '../../../../activities/models/seeds/prompt-source.js';
import type { ChatEvent, ChatRequest } from '../../../../activities/retrieval/chat/chat-request.js';
import { createChatService } from '../../../../activities/retrieval/chat/chat-service.js';
import type { ChatServiceSettings } from '../../../../activities/retrieval/chat/chat-service.js';
import type {
  SearchOutcome,
  SearchRequest,
  SearchResult,
} from '../../../../activities/retrieval/search/search-types.js';
import { parseConfig } from '../../../../schemas/config/config.js';
import type { FileRecord, StoredChunk } from '../../../../schemas/documents/documents.js';
import { makePartition, makeResult, scopeOf } from '../fixtures.js';

export type Script = (messages: readonly ChatMessage[], options: ChatOptions) => AsyncIterable<ChatDelta>;

export async function* say(text: string): AsyncGenerator<ChatDelta> {
  for (const content of text.match(/\s*\S+/g) ?? []) yield { content };
  yield { content: '', finishReason: 'stop', usage: { promptTokens: 11, completionTokens: 7 } };
}

export const VALVE = [
  makeResult({ chunk_id: 'one', text: 'The valve opens at 4 bar.', page: 2 }),
  makeResult({ chunk_id: 'two', text: 'The pump is green.' }),
];

export interface ChatStageOptions {
  /** What every search finds, or what a search finds. */
  found?: SearchResult[] | ((request: SearchRequest) => SearchResult[] | SearchOutcome);
  contextTokens?: number;
  model?: LanguageModel;
  /** What the model answers on the way to the answer: rewriting, variants, evaluations. Fails by default. */
  complete?: (messages: readonly ChatMessage[], options: ChatOptions) => Promise<string> | string;
  adapters?: Partial<ChatAdapters>;
  files?: { file: FileRecord; chunks: StoredChunk[] }[];
  settings?: Partial<ChatServiceSettings>;
}

/** The chat pipeline with a scripted model and scripted searches; remembers what they were asked. */
export function openChatStage(script: Script, options: ChatStageOptions = {}) {
  const seen: { messages: ChatMessage[]; options: ChatOptions }[] = [];
  const asides: ChatMessage[][] = [];
  const searched: SearchRequest[] = [];
  const contextTokens = options.contextTokens ?? 8192;
  const model: LanguageModel = options.model ?? {
    endpointName: 'scripted',
    modelName: 'scripted',
    contextTokens,
    stream: (messages, chatOptions) => {
      seen.push({ messages: [...messages], options: chatOptions });
      return script(messages, chatOptions);
    },
    complete: async (messages, chatOptions) => {
      asides.push([...messages]);
      if (options.complete === undefined) throw new Error('no words aside');
      return { content: await options.complete(messages, chatOptions), finishReason: 'stop' };
    },
  };
  const searchInFull = async (request: SearchRequest): Promise<SearchOutcome> => {
    searched.push(request);
    const { found = VALVE } = options;
    const outcome = typeof found === 'function' ? found(request) : found;
    return Array.isArray(outcome) ? { results: outcome } : outcome;
  };
  const files = options.files ?? [];
  const service = createChatService({
    search: { search: async (request) => (await searchInFull(request)).results, searchInFull },
    models: { languageModel: async () => model },
    overrides: { languageModel: async () => model },
    promptSource: bundledPromptSource,
    web: null,
    files: {
      get: async (partition, id) =>
        files.find(({ file }) => file.partition === partition && file.file_id === id)?.file ?? null,
    },
    chunks: {
      listByFile: async (fileKey) => files.find(({ file }) => file.file_key === fileKey)?.chunks ?? [],
    },
    partitions: { list: async () => ['public', 'other', 'foreign'].map((name) => makePartition(name)) },
    ...options.adapters,
    settings: { ...parseConfig({}).chat, ...options.settings },
    now: () => new Date('2026-03-01T12:00:00Z'),
  });
  const respond = (over: Partial<ChatRequest> = {}) =>
    service.respond({
      scope: scopeOf('public'),
      target: { kind: 'retrieval', partitions: ['public'] },
      messages: [{ role: 'user', content: 'At what pressure does the valve open?' }],
      signal: new AbortController().signal,
      ...over,
    });
  const collect = async (over: Partial<ChatRequest> = {}) => {
    const events: ChatEvent[] = [];
    for await (const event of respond(over)) events.push(event);
    const end = events.pop();
    if (end?.type !== 'end') throw new Error('no end');
    expect(events.every(({ type }) => type === 'delta')).toBe(true);
    const text = events.map((event) => (event.type === 'delta' ? event.content : '')).join('');
    return { text, end, events };
  };
  return { respond, collect, seen, asides, searched };
}
