import { randomUUID } from 'node:crypto';
import type { ConversationStore } from '../../../../activities/ports/conversations.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { ConversationRecord, StoredMessage } from '../../../../schemas/retrieval/conversations.js';
import { copyRecord } from '../copy-record.js';

interface Kept {
  head: Omit<ConversationRecord, 'messages'>;
  messages: StoredMessage[];
}

/** Conversations in a list, the one that was changed last in front. */
export function createFakeConversationStore(): ConversationStore {
  let kept: Kept[] = [];
  const present = ({ head, messages }: Kept): ConversationRecord =>
    copyRecord({ ...head, messages: messages.length });
  const of = (userId: number) => kept.filter(({ head }) => head.user_id === userId);
  const find = (userId: number, id: string) => of(userId).find(({ head }) => head.conversation_id === id);
  const put = (former: Kept | undefined, next: Kept): ConversationRecord => {
    kept = [next, ...kept.filter((one) => one !== former)];
    return present(next);
  };
  const after = ({ head }: Kept, changes: object) => ({
    ...head,
    ...copyRecord(changes),
    revision: head.revision + 1,
    updated_at: new Date(),
  });
  return {
    async create(given, keep) {
      const now = new Date();
      const head = { ...copyRecord(given), conversation_id: randomUUID(), revision: 1 };
      const record = put(undefined, { head: { ...head, created_at: now, updated_at: now }, messages: [] });
      const beyond = of(given.user_id).slice(keep);
      kept = kept.filter((one) => !beyond.includes(one));
      return record;
    },
    async list(userId, { limit, offset }) {
      const all = of(userId);
      return { total: all.length, conversations: all.slice(offset, offset + limit).map(present) };
    },
    async get(userId, id) {
      const found = find(userId, id);
      return found === undefined
        ? null
        : { conversation: present(found), messages: copyRecord(found.messages) };
    },
    async update(userId, id, changes) {
      const found = find(userId, id);
      return found === undefined ? null : put(found, { ...found, head: after(found, changes) });
    },
    async write(userId, id, { revision, keep, messages, most }) {
      const found = find(userId, id);
      if (found === undefined) return null;
      const stay = found.messages.slice(0, keep);
      const size = [...stay, ...messages].reduce(
        (sum, { message_id: _id, created_at: _at, ...message }: Partial<StoredMessage>) =>
          sum + JSON.stringify(message).length,
        0,
      );
      if (stay.length + messages.length > most.messages || size > most.bytes)
        throw new AppError('CONVERSATION_LIMIT_EXCEEDED');
      if (found.head.revision !== revision) throw new AppError('CONFLICT');
      const added = messages.map((message) => ({
        ...copyRecord(message),
        message_id: randomUUID(),
        created_at: new Date(),
      }));
      return put(found, { head: after(found, {}), messages: [...stay, ...added] });
    },
    async remove(userId, id) {
      const found = find(userId, id);
      kept = kept.filter((one) => one !== found);
      return found !== undefined;
    },
    async removeUser(userId) {
      kept = kept.filter(({ head }) => head.user_id !== userId);
    },
  };
}
