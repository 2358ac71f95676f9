import type { components } from '../../../api/schema.gen';
import { cutText } from '../../../shared/cut-text';
import type { KeptSource } from './sources';

type StoredMessage = components['schemas']['Conversation']['messages'][number];

export interface Message {
  /** Within this window. */
  id: number;
  role: 'user' | 'assistant';
  content: string;
  state: 'streaming' | 'done' | 'stopped' | 'failed';
  answerId: string | null;
  sources: readonly KeptSource[];
  degraded: readonly string[];
  /** What was searched for; not kept by the server. */
  searched: readonly string[];
  truncated: boolean;
  /** It ended because it may not be longer; kept as broken off. */
  cut: boolean;
  error: unknown;
}

let nextId = 1;

export function newMessage(role: Message['role'], content: string, state: Message['state']): Message {
  return {
    id: nextId++,
    role,
    content,
    state,
    answerId: null,
    sources: [],
    degraded: [],
    searched: [],
    truncated: false,
    cut: false,
    error: null,
  };
}

export function fromStored(stored: StoredMessage): Message {
  const { role, content, state, answer_id: answerId, sources, degraded, truncated } = stored;
  return { ...newMessage(role, content, state ?? 'done'), answerId, sources, degraded, truncated };
}

/** What the server takes of one message. */
const MAX_CONTENT = 32_000;

/** Whether the server has a message as this window shows it. */
export function isStoredAs(message: Message, { role, content, state }: StoredMessage): boolean {
  const isSame = message.role === role && message.state === (state ?? 'done');
  return isSame && cutText(message.content, MAX_CONTENT) === content;
}

export function toStored(message: Message) {
  const { role, content, state, answerId, sources, degraded, truncated, cut } = message;
  return {
    role,
    content: cutText(content, MAX_CONTENT),
    state: state === 'streaming' ? ('stopped' as const) : state,
    answer_id: answerId,
    sources: [...sources],
    degraded: [...degraded],
    truncated: truncated || cut || content.length > MAX_CONTENT,
  };
}
