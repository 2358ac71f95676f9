import type { NewConversation } from '../../../activities/ports/conversations.js';
import type { ConversationMessage } from '../../../schemas/retrieval/conversations.js';

export function sampleConversation(given: Partial<NewConversation> = {}): NewConversation {
  return {
    user_id: 7,
    title: 'Rivers',
    scope: { partition: 'one', workspace: null, file_id: null },
    preset: null,
    ...given,
  };
}

/** An answer with a source. */
export function sampleMessage(given: Partial<ConversationMessage> = {}): ConversationMessage {
  return {
    role: 'assistant',
    content: 'The river flows [1].',
    state: 'done',
    answer_id: 'chatcmpl-1',
    sources: [
      {
        source_type: 'document',
        number: 1,
        cited: true,
        chunk_id: 'chunk-1',
        partition: 'one',
        file_id: 'river',
        title: 'river.txt',
        page: 2,
        char_start: 4,
        char_end: 9,
        verified: true,
        url: null,
      },
    ],
    degraded: [],
    truncated: false,
    ...given,
  };
}
