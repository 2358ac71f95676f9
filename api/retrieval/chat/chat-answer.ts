import { randomUUID } from 'node:crypto';
import { isWebPage, shownSources } from '../../../activities/retrieval/chat/chat-sources.js';
import type { ChatEnd } from '../../../activities/retrieval/chat/chat-request.js';
import type { ChatSource } from '../../../activities/retrieval/chat/chat-sources.js';
import { presentChunkMetadata } from '../../../activities/retrieval/search/present-metadata.js';
import type { ChatExtra } from '../../../schemas/retrieval/chat-api.js';
import type { CollectedAnswer } from './collect-answer.js';
import type { Links } from '../../http/links.js';

/** What every part of one answer carries. */
export interface ChatFrame {
  id: string;
  created: number;
  /** Echoes the request. */
  model: string;
}

export function answerFrame(kind: 'chatcmpl' | 'cmpl', model: string | null | undefined): ChatFrame {
  return {
    id: `${kind}-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model: model ?? '',
  };
}

type SourceEntry = ChatExtra['sources'][number];

function sourceEntry(source: ChatSource, link: Links): SourceEntry {
  if (isWebPage(source)) return { source_type: 'web', ...source };
  const { chunk, rerankScore } = source;
  const fileUrl = link.original(chunk.chunk_id);
  return {
    source_type: 'document',
    chunk: presentChunkMetadata(source),
    ...(rerankScore === undefined ? {} : { rerank_score: rerankScore }),
    chunk_url: link.extract(chunk.chunk_id),
    ...(fileUrl === null ? {} : { file_url: fileUrl }),
  };
}

/** A cited document says where it supports the answer, as far as words can tell. */
function supportOf(source: ChatSource, { sources }: ChatEnd): Partial<SourceEntry> {
  if (isWebPage(source)) return {};
  const support = sources.supports.get(source);
  if (support === undefined) return { verified: false };
  const { quote, charStart, charEnd, verified } = support;
  return { quote, char_start: charStart, char_end: charEnd, verified };
}

/** The complete `extra` of an answer. Its lists share their entries. */
export function chatExtra(end: ChatEnd, link: Links): ChatExtra {
  const made = new Map<ChatSource, SourceEntry>();
  const entryOf = (source: ChatSource): SourceEntry => {
    const entry = made.get(source) ?? sourceEntry(source, link);
    made.set(source, entry);
    return entry;
  };
  const entries = (sources: readonly ChatSource[]): SourceEntry[] => sources.map(entryOf);
  const cited = end.sources.cited.map((source) => ({
    ...entryOf(source),
    ...supportOf(source, end),
  }));
  return {
    // Those that were cited, where there are any.
    sources: cited.length > 0 ? cited : entries(shownSources(end.sources)),
    presented_sources: entries(end.sources.presented),
    cited_sources: cited,
    citations_reported: end.sources.reported,
    refused: end.refused,
    ...(end.sentences && { sentences: end.sentences }),
    ...(end.allRetrieved && { all_retrieved_sources: entries(end.allRetrieved) }),
    ...(end.searched && { searched: end.searched }),
    ...(end.attachments && { attachments: end.attachments }),
    ...(end.trace && { retrieval_trace: { ...end.trace } }),
    ...(end.degraded && { degraded: end.degraded }),
    ...(end.truncated && { truncated: true }),
    ...(end.linksRemoved !== undefined && { links_removed: end.linksRemoved }),
  };
}

export function chatUsage({ usage }: ChatEnd) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

/** The answer as a whole. */
export function chatAnswer(frame: ChatFrame, answer: CollectedAnswer, link: Links) {
  const { content, more, logprobs, end } = answer;
  // A call of a tool instead of an answer has no content at all.
  const silent = content === '' && (Array.isArray(more['tool_calls']) || more['function_call'] != null);
  return {
    ...frame,
    object: 'chat.completion' as const,
    choices: [
      {
        index: 0,
        message: { role: 'assistant' as const, content: silent ? null : content, ...more },
        logprobs: logprobs.length > 0 ? { content: logprobs } : null,
        finish_reason: end.finishReason,
      },
    ],
    usage: chatUsage(end),
    extra: chatExtra(end, link),
  };
}
