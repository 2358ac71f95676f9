import { ApiError, mayPass } from '../../../api/api-error';
import { api, bodyOf } from '../../../api/client';
import type { paths } from '../../../api/schema.gen';
import { cutText } from '../../../shared/cut-text';
import { isStoredAs, toStored } from './message';
import type { Message } from './message';
import type { Scope } from './scope';

/** A conversation as this window has it, and how much of it the server keeps. */
export interface Talk {
  /** Null: the server does not know it yet. */
  id: string | null;
  title: string;
  revision: number;
  scope: Scope;
  preset: string | null;
  messages: readonly Message[];
  /** What the server keeps of it is still to come. */
  loading: boolean;
  /** So many of the first messages are kept as they are here. */
  kept: number;
  /** What the server has behind those is to go. */
  surplus: boolean;
  /** What the server has, as far as this window knows. */
  known: readonly Message[];
  /** Why the server does not keep it at the moment. */
  fault: unknown;
}

/** What one request takes. */
const BATCH = 20;
const MAX_TITLE = 100;
const AGAIN_MS = 3_000;

function head(conversation_id: string) {
  return { params: { path: { conversation_id } } };
}

async function begin(talk: Talk): Promise<void> {
  const first = talk.messages[0]?.content ?? '';
  const { scope, preset } = talk;
  const title = cutText(first.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE);
  const made = await bodyOf(api.POST('/users/me/conversations', { body: { title, scope, preset } }));
  talk.id = made.conversation_id;
  talk.title = made.title;
  talk.revision = made.revision;
}

/** Brings the server to what this window shows; an answer that still comes in waits for its end. */
async function bring(talk: Talk): Promise<void> {
  for (;;) {
    const messages = talk.messages
      .slice(talk.kept, talk.kept + BATCH)
      .filter(({ state }) => state !== 'streaming');
    if (messages.length === 0 && !talk.surplus) return;
    if (talk.id === null) await begin(talk);
    const { revision, kept, id } = talk;
    talk.kept += messages.length;
    talk.surplus = false;
    try {
      const body = { revision, keep: kept, messages: messages.map(toStored) };
      const stored = await bodyOf(
        api.POST('/users/me/conversations/{conversation_id}/messages', { ...head(id ?? ''), body }),
      );
      talk.revision = stored.revision;
      talk.known = [...talk.known.slice(0, kept), ...messages];
    } catch (error) {
      talk.kept = Math.min(kept, talk.kept);
      talk.surplus = true;
      throw error;
    }
  }
}

/**
 * Reads a conversation that has changed since this window saw it. A new title or scope counts as a change, and so does
 * a write of this window whose answer broke off: where the server has no message that this window does not know, the
 * next write follows what is there. What is asked here stays about what this window says.
 */
async function catchUp(talk: Talk): Promise<boolean> {
  const stored = await bodyOf(api.GET('/users/me/conversations/{conversation_id}', head(talk.id ?? '')));
  const begins = (shown: readonly Message[]) =>
    stored.messages.every((message, at) => shown[at] !== undefined && isStoredAs(shown[at], message));
  const isKnown = stored.messages.length === talk.known.length && begins(talk.known);
  if (!isKnown && !begins(talk.messages)) return false;
  if (!isKnown) {
    talk.kept = stored.messages.length;
    talk.surplus = false;
    talk.known = talk.messages.slice(0, talk.kept);
  }
  talk.revision = stored.revision;
  talk.title = stored.title;
  return true;
}

async function bringUp(talk: Talk): Promise<void> {
  try {
    await bring(talk);
  } catch (error) {
    const isChanged = error instanceof ApiError && error.code === 'CONFLICT';
    if (!isChanged || !(await catchUp(talk))) throw error;
    await bring(talk);
  }
}

const turns = new WeakMap<Talk, Promise<void>>();

/** One after the other: each change names the revision that it follows. */
function inTurn(talk: Talk, change: () => Promise<void>): Promise<void> {
  const turn = (turns.get(talk) ?? Promise.resolve()).then(change);
  turns.set(
    talk,
    turn.catch(() => {}),
  );
  return turn;
}

const waiting = new WeakSet<Talk>();

/** While the server is away it is tried again by itself; a refusal stays one. */
export async function keep(talk: Talk, told: () => void): Promise<void> {
  await inTurn(talk, () => bringUp(talk)).then(
    () => void (talk.fault = null),
    (error: unknown) => void (talk.fault = error),
  );
  told();
  if (!mayPass(talk.fault) || waiting.has(talk)) return;
  waiting.add(talk);
  setTimeout(() => {
    waiting.delete(talk);
    void keep(talk, told);
  }, AGAIN_MS);
}

/** Keeps what this window shows as a conversation of its own; the one that others have changed stays as it is. */
export async function keepAsNew(talk: Talk, told: () => void): Promise<void> {
  const unknown = { id: null, kept: 0, surplus: false, known: [] };
  await inTurn(talk, async () => void Object.assign(talk, unknown));
  await keep(talk, told);
}

type Change =
  paths['/users/me/conversations/{conversation_id}']['patch']['requestBody']['content']['application/json'];

function patch(id: string, body: Change) {
  return bodyOf(api.PATCH('/users/me/conversations/{conversation_id}', { ...head(id), body }));
}

/**
 * What the server answered to a change, which names no revision. Where others have changed the conversation since this
 * window saw it, the window's revision stays: what it keeps next is a conflict then, and does not replace messages that
 * it does not show.
 */
function follow(talk: Talk, { revision, title }: { revision: number; title: string }): void {
  if (revision !== talk.revision + 1) return;
  talk.revision = revision;
  talk.title = title;
}

/** What the next question is about, for other browsers as well. Messages that are not kept stay a fault. */
export async function keepSettings(talk: Talk, told: () => void): Promise<void> {
  await inTurn(talk, async () => {
    if (talk.id === null) return;
    const { scope, preset } = talk;
    follow(talk, await patch(talk.id, { scope, preset }));
  }).catch((error: unknown) => void (talk.fault = error));
  told();
}

/** Gives a conversation another title, where `talk` is the one that this window shows. @throws ApiError */
export async function rename(id: string, title: string, talk: Talk, told: () => void): Promise<void> {
  if (talk.id !== id) await patch(id, { title });
  else await inTurn(talk, async () => follow(talk, await patch(id, { title })));
  told();
}
