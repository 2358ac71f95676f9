/** Conversations that users keep; see `adapters.ts` for the rules that hold for all ports. */
import type {
  ConversationMessage,
  ConversationRecord,
  StoredMessage,
} from '../../schemas/retrieval/conversations.js';

export type NewConversation = Pick<ConversationRecord, 'user_id' | 'title' | 'scope' | 'preset'>;

/** No method reaches a conversation of another user than the named one. */
export interface ConversationStore {
  /** Without messages. Beyond `keep` those of this user that rested longest go. */
  create(conversation: NewConversation, keep: number): Promise<ConversationRecord>;
  /** The one that was changed last comes first; `total` is that of the user. */
  list(
    userId: number,
    page: { limit: number; offset: number },
  ): Promise<{ total: number; conversations: ConversationRecord[] }>;
  get(
    userId: number,
    conversationId: string,
  ): Promise<{ conversation: ConversationRecord; messages: StoredMessage[] } | null>;
  /** Null when there is none. */
  update(
    userId: number,
    conversationId: string,
    changes: Partial<Pick<ConversationRecord, 'title' | 'scope' | 'preset'>>,
  ): Promise<ConversationRecord | null>;
  /**
   * Puts messages behind the first `keep` ones (all, where it is left out) in one step: a reader sees those of before
   * or those of after. Null when there is no such conversation.
   * @throws AppError CONFLICT when `revision` is not the present one, CONVERSATION_LIMIT_EXCEEDED beyond `most`
   *   messages, or bytes of them as JSON
   */
  write(
    userId: number,
    conversationId: string,
    change: {
      revision: number;
      keep?: number;
      messages: readonly ConversationMessage[];
      most: { messages: number; bytes: number };
    },
  ): Promise<ConversationRecord | null>;
  /** False when there is none. */
  remove(userId: number, conversationId: string): Promise<boolean>;
  removeUser(userId: number): Promise<void>;
}
