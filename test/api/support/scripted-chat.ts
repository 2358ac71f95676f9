import type { ChatEnd, ChatEvent, ChatRequest } from '../../../activities/retrieval/chat/chat-request.js';
import type { ChatService } from '../../../activities/retrieval/chat/chat-service.js';
import type { SearchResult } from '../../../activities/retrieval/search/search-types.js';

type Step = ChatEvent | Error | 'silence';

/** A chat service that plays steps: events, a throw, or silence until it is aborted. Remembers what it was asked. */
export function createScriptedChat(steps: readonly Step[]) {
  const requests: ChatRequest[] = [];
  const state = { open: 0, aborted: 0 };
  const service: ChatService = {
    async *respond(request) {
      requests.push(request);
      state.open += 1;
      try {
        for (const step of steps) {
          if (step instanceof Error) throw step;
          if (step === 'silence')
            await new Promise((_resolve, reject) => {
              request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), {
                once: true,
              });
            });
          else yield step;
        }
      } finally {
        state.open -= 1;
        if (request.signal.aborted) state.aborted += 1;
      }
    },
  };
  return { service, requests, state };
}

export function delta(content: string): ChatEvent {
  return { type: 'delta', content };
}

export function end(sources: Partial<ChatEnd['sources']> = {}, rest: Partial<ChatEnd> = {}): ChatEvent {
  return {
    type: 'end',
    finishReason: 'stop',
    usage: { promptTokens: 7, completionTokens: 3 },
    truncated: false,
    sources: { presented: [], cited: [], supports: new Map(), reported: false, none: false, ...sources },
    refused: false,
    ...rest,
  };
}

/** A search result with just enough to be presented as a source. */
export function source(id: string): SearchResult {
  const version = {
    upload_id: 'u',
    filename: `${id}.txt`,
    original_filename: `${id}.txt`,
    mimetype: 'text/plain',
    size_bytes: 1,
    content_sha256: 'f'.repeat(64),
    generation: 1,
    task_id: 'u',
    metadata: {},
    relationship_id: null,
    parent_id: null,
    chunk_count: 1,
    embedder: 'builtin-hash',
    indexed_at: new Date(0),
    degraded_stages: [],
  };
  const file = {
    file_key: 'k',
    partition: 'notes',
    partition_key: 'n',
    file_id: id,
    created_by: 1,
    workspaces: [],
    independent: true,
    latest_generation: 1,
    live: version,
    metadata_patch: null,
    revision: 0,
    chunk_updates: [],
    pending_task: null,
    created_at: new Date(0),
    updated_at: new Date(0),
    deleted_at: null,
  };
  const chunk = {
    chunk_id: id,
    partition: 'notes',
    file_id: id,
    file_key: 'k',
    generation: 1,
    position: 0,
    published: true,
    text: 't',
    filename: `${id}.txt`,
    heading_path: [],
    page: null,
    chunk_type: 'text' as const,
    section_id: 0,
    prev_section_id: null,
    next_section_id: null,
    relationship_id: null,
    parent_id: null,
    metadata: [],
  };
  return { chunk, file, version, score: 1, vectorScore: 0.5, lexicalScore: null };
}
