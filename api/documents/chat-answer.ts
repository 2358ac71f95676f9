import { randomUUID } from 'node:crypto';
import { shownSources } from '../../activities/retrieval/chat-service.js';
import type { ChatEvent } from '../../activities/retrieval/chat-service.js';
import { presentChunkMetadata } from '../../activities/retrieval/present-metadata.js';
import type { SearchResult } from '../../activities/retrieval/search-service.js';
import type { ChatExtra } from '../../schemas/documents-api.js';
import type { Links } from './links.js';

export type ChatEnd = Extract<ChatEvent, { type: 'end' }>;

/** What every part of one answer carries. */
export interface ChatFrame {
  id: string;
  created: number;
  /** Echoes the request. */
  model: string;
}

export const chatFrame = (model: string | null | undefined): ChatFrame => ({
  id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  created: Math.floor(Date.now() / 1000),
  model: model ?? '',
});

const sourceEntry = (result: SearchResult, link: Links) => {
  const fileUrl = link.original(result.chunk.chunk_id);
  return {
    source_type: 'document',
    chunk: presentChunkMetadata(result),
    chunk_url: link.extract(result.chunk.chunk_id),
    ...(fileUrl === null ? {} : { file_url: fileUrl }),
  };
};

/** The complete `extra` of an answer. */
export const chatExtra = (end: ChatEnd, link: Links): ChatExtra => {
  const entries = (results: readonly SearchResult[]) => results.map((result) => sourceEntry(result, link));
  return {
    sources: entries(shownSources(end.sources)),
    presented_sources: entries(end.sources.presented),
    cited_sources: entries(end.sources.cited),
    citations_reported: end.sources.reported,
    ...(end.truncated ? { truncated: true } : {}),
  };
};

export const chatUsage = ({ usage }: ChatEnd) => ({
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
});

/** The answer in one piece. */
export const chatAnswer = (frame: ChatFrame, content: string, end: ChatEnd, link: Links) => ({
  ...frame,
  object: 'chat.completion' as const,
  choices: [
    {
      index: 0,
      message: { role: 'assistant' as const, content },
      logprobs: null,
      finish_reason: end.finishReason,
    },
  ],
  usage: chatUsage(end),
  extra: chatExtra(end, link),
});
