import { useSyncExternalStore } from 'react';
import { api, bodyOf } from '../../../api/client';
import { keep, keepAsNew, keepSettings, rename } from './keep-conversation';
import type { Talk } from './keep-conversation';
import { fromStored, newMessage } from './message';
import type { Message } from './message';
import type { Scope } from './scope';
import { keptSources } from './sources';
import { streamAnswer } from './stream-answer';

const EVERYWHERE: Scope = { partition: null, workspace: null, file_id: null };

function fresh(scope: Scope, preset: string | null): Talk {
  const kept = { loading: false, kept: 0, surplus: false, known: [], fault: null };
  return { id: null, title: '', revision: 0, scope, preset, messages: [], ...kept };
}

/**
 * What a model is told of a conversation. A question that was never answered goes with its answer: some models refuse
 * two questions in a row.
 */
function isTold({ role, content }: Message, at: number, turns: Message[]): boolean {
  const next = turns[at + 1];
  const isAnswered = next === undefined || (next.role !== 'user' && next.content !== '');
  return content !== '' && (role !== 'user' || isAnswered);
}

/** The conversation of this window; it stays while one looks at other pages, and the server keeps what ended. */
function createConversation() {
  let talk = fresh(EVERYWHERE, null);
  let shown = { ...talk };
  let running: AbortController | null = null;
  /** Raised by what decides which conversation is shown: one that was opened before comes too late then. */
  let turn = 0;
  const listeners = new Set<() => void>();
  const told = () => {
    shown = { ...talk };
    listeners.forEach((listener) => listener());
  };
  const change = (own: Talk, id: number, changes: (message: Message) => Partial<Message>) => {
    own.messages = own.messages.map((message) =>
      message.id === id ? { ...message, ...changes(message) } : message,
    );
    told();
  };

  const stop = () => {
    running?.abort();
    running = null;
  };

  const ask = async (question: string) => {
    stop();
    turn += 1;
    const own = talk;
    own.loading = false;
    const controller = new AbortController();
    running = controller;
    const answer = newMessage('assistant', '', 'streaming');
    const turns = [...own.messages, newMessage('user', question, 'done')];
    own.messages = [...turns, answer];
    told();
    void keep(own, told);
    try {
      await streamAnswer(
        {
          scope: own.scope,
          preset: own.preset,
          messages: turns.filter(isTold).map(({ role, content }) => ({ role, content })),
        },
        {
          content: (text) => change(own, answer.id, ({ content }) => ({ content: content + text })),
          extra: (extra) =>
            change(own, answer.id, () => ({
              sources: keptSources(extra),
              degraded: extra.degraded ?? [],
              searched: extra.searched ?? [],
              truncated: extra.truncated === true,
            })),
          end: (answerId, cut) => change(own, answer.id, () => ({ answerId, cut })),
        },
        controller.signal,
      );
      change(own, answer.id, () => ({ state: 'done' }));
    } catch (error) {
      change(own, answer.id, () =>
        controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error },
      );
    } finally {
      if (running === controller) running = null;
      void keep(own, told);
    }
  };

  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current: () => shown,
    setAbout(about: Partial<Pick<Talk, 'scope' | 'preset'>>) {
      Object.assign(talk, about);
      told();
      void keepSettings(talk, told);
    },
    ask,
    stop,
    /** Tries again to have the server keep it. */
    keep: () => keep(talk, told),
    /** Leaves the one that others have changed or deleted, and keeps what stands here as another one. */
    keepAsNew: () => keepAsNew(talk, told),
    /** Gives one another title, be it this one or not. @throws ApiError */
    rename: (id: string, title: string) => rename(id, title, talk, told),
    /** Asks anew from a question of before; what followed it is dropped. */
    askAgain(id: number, question: string) {
      // What still comes in belongs to what is dropped.
      stop();
      const at = talk.messages.findIndex((message) => message.id === id);
      if (at >= 0) {
        talk.messages = talk.messages.slice(0, at);
        talk.surplus ||= talk.kept > at;
        talk.kept = Math.min(talk.kept, at);
      }
      return ask(question);
    },
    /** Another one, about the same. */
    begin(scope: Scope = talk.scope) {
      stop();
      turn += 1;
      talk = fresh(scope, talk.preset);
      told();
    },
    /** One that the server keeps. An error of one that is no longer wanted is none. @throws ApiError */
    async open(conversation_id: string) {
      stop();
      turn += 1;
      const own = turn;
      // What stood there before belongs to another one: nothing may be asked of it any more.
      talk = { ...fresh(EVERYWHERE, null), loading: true };
      told();
      try {
        const path = '/users/me/conversations/{conversation_id}';
        const stored = await bodyOf(api.GET(path, { params: { path: { conversation_id } } }));
        if (turn !== own) return;
        const { title, revision, scope, preset } = stored;
        const messages = stored.messages.map(fromStored);
        const kept = { kept: messages.length, surplus: false, known: messages, fault: null };
        talk = { id: conversation_id, title, revision, scope, preset, messages, loading: false, ...kept };
      } catch (error) {
        if (turn !== own) return;
        talk.loading = false;
        throw error;
      } finally {
        told();
      }
    },
  };
}

export const conversation = createConversation();

export function useConversation() {
  return useSyncExternalStore(conversation.subscribe, conversation.current);
}
