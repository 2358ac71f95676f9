import { useSyncExternalStore } from 'react';
import { streamAnswer } from './stream-answer';
import type { ChatExtra } from './stream-answer';

export interface Message {
  id: number;
  role: 'user' | 'assistant';
  content: string;
  extra: ChatExtra | null;
  /** The server's name of the answer, once it is whole. */
  answerId: string | null;
  /** It ended because it may not be longer. */
  cut: boolean;
  state: 'streaming' | 'done' | 'stopped' | 'failed';
  error: unknown;
}

export interface Scope {
  /** Null: every partition of the caller. */
  partition: string | null;
  workspace: string | null;
}

/** The conversation of this window; it stays while one looks at other pages and goes with the window. */
function createConversation() {
  let messages: readonly Message[] = [];
  let scope: Scope = { partition: null, workspace: null };
  let nextId = 1;
  let running: AbortController | null = null;
  const listeners = new Set<() => void>();
  const told = () => listeners.forEach((listener) => listener());
  const set = (next: readonly Message[]) => {
    messages = next;
    told();
  };
  const change = (id: number, changes: (message: Message) => Partial<Message>) =>
    set(messages.map((message) => (message.id === id ? { ...message, ...changes(message) } : message)));
  const made = (role: Message['role'], content: string, state: Message['state']): Message => ({
    id: nextId++,
    role,
    content,
    state,
    extra: null,
    answerId: null,
    cut: false,
    error: null,
  });

  const stop = () => {
    running?.abort();
    running = null;
  };

  const ask = async (question: string) => {
    stop();
    const controller = new AbortController();
    running = controller;
    const answer = made('assistant', '', 'streaming');
    const turns = [...messages.filter(({ content }) => content !== ''), made('user', question, 'done')];
    set([...turns, answer]);
    try {
      await streamAnswer(
        {
          model: scope.partition === null ? 'partition-all' : `rag-${scope.partition}`,
          workspace: scope.workspace,
          messages: turns.map(({ role, content }) => ({ role, content })),
        },
        {
          content: (text) => change(answer.id, ({ content }) => ({ content: content + text })),
          extra: (extra) => change(answer.id, () => ({ extra })),
          end: (answerId, cut) => change(answer.id, () => ({ answerId, cut })),
        },
        controller.signal,
      );
      change(answer.id, () => ({ state: 'done' }));
    } catch (error) {
      change(answer.id, () =>
        controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error },
      );
    } finally {
      if (running === controller) running = null;
    }
  };

  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    messages: () => messages,
    scope: () => scope,
    setScope(next: Scope) {
      scope = next;
      told();
    },
    ask,
    stop,
    /** Asks anew from a question of before; what followed it is dropped. */
    askAgain(id: number, question: string) {
      const at = messages.findIndex((message) => message.id === id);
      if (at >= 0) messages = messages.slice(0, at);
      return ask(question);
    },
    clear() {
      stop();
      set([]);
    },
  };
}

export const conversation = createConversation();

export function useConversation() {
  return useSyncExternalStore(conversation.subscribe, conversation.messages);
}

export function useScope() {
  return useSyncExternalStore(conversation.subscribe, conversation.scope);
}
