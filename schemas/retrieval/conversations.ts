/** Conversations that a user keeps: what was asked about what, and from what it was answered. */

export const CONVERSATION_LIMITS = {
  /** Of one user; with each beyond, the one that rested longest goes. */
  conversations: 500,
  messages: 200,
  /** Of all its messages, as JSON. */
  bytes: 2_000_000,
  /** Of one message, in characters. */
  content: 32_000,
  sources: 100,
  title: 200,
} as const;

/** What the questions are about. Without a partition they are about all that the user may read. */
export interface ConversationScope {
  partition: string | null;
  workspace: string | null;
  file_id: string | null;
}

/** What an answer was given from. No text of a document is kept, which goes with its file. */
export interface ConversationSource {
  source_type: 'document' | 'web';
  /** The number by which the answer names it. */
  number: number;
  cited: boolean;
  chunk_id: string | null;
  partition: string | null;
  file_id: string | null;
  /** The name of the file, or the title of the page. */
  title: string | null;
  page: number | null;
  /** Where the extract supports the answer, in Unicode code points. */
  char_start: number | null;
  char_end: number | null;
  verified: boolean | null;
  /** Of a page of the web. */
  url: string | null;
}

export const MESSAGE_STATES = ['done', 'stopped', 'failed'] as const;

export interface ConversationMessage {
  role: 'user' | 'assistant';
  content: string;
  state: (typeof MESSAGE_STATES)[number];
  /** The `id` of the chat completion, by which feedback names it; null for a question. */
  answer_id: string | null;
  sources: ConversationSource[];
  /** Steps of the answer that failed and were left out. */
  degraded: string[];
  truncated: boolean;
}

export interface StoredMessage extends ConversationMessage {
  message_id: string;
  created_at: Date;
}

export interface ConversationRecord {
  conversation_id: string;
  user_id: number;
  title: string;
  scope: ConversationScope;
  /** The retrieval preset that the questions are searched with; null: the partition's. */
  preset: string | null;
  messages: number;
  /** Goes up with each change. */
  revision: number;
  created_at: Date;
  updated_at: Date;
}
