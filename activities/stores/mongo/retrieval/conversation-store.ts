import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type {
  ConversationMessage,
  ConversationRecord,
  StoredMessage,
} from '../../../../schemas/retrieval/conversations.js';
import type { ConversationStore } from '../../../ports/conversations.js';
import { withMongoErrors } from '../mongo-errors.js';

/** It names its messages in their order, so that one update of this document changes them all. */
type HeadDocument = Omit<ConversationRecord, 'conversation_id' | 'messages'> & {
  _id: string;
  parts: { id: string; bytes: number }[];
};

type MessageDocument = Omit<StoredMessage, 'message_id'> & {
  _id: string;
  conversation_id: string;
  user_id: number;
};

function fromDocument({ _id, parts, ...rest }: HeadDocument): ConversationRecord {
  return { ...rest, conversation_id: _id, messages: parts.length };
}

function fromMessage({ _id, conversation_id: _of, user_id: _user, ...rest }: MessageDocument): StoredMessage {
  return { ...rest, message_id: _id };
}

function sizeOf(message: ConversationMessage): number {
  return Buffer.byteLength(JSON.stringify(message));
}

function requireRoom(
  parts: HeadDocument['parts'],
  most: Parameters<ConversationStore['write']>[2]['most'],
): void {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (parts.length > most.messages || bytes > most.bytes) throw new AppError('CONVERSATION_LIMIT_EXCEEDED');
}

/**
 * Conversations in collection `conversations`, their messages in `conversation_messages`: a list of conversations reads
 * none of the texts. What a crash leaves of messages that no conversation names goes with the conversation or the user.
 */
export function createMongoConversationStore(db: Db): ConversationStore {
  const heads = db.collection<HeadDocument>('conversations');
  const messages = db.collection<MessageDocument>('conversation_messages');

  const drop = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    await heads.deleteMany({ _id: { $in: [...ids] } });
    await messages.deleteMany({ conversation_id: { $in: [...ids] } });
  };

  return withMongoErrors<ConversationStore>({
    async create(conversation, keep) {
      const now = new Date();
      const document: HeadDocument = {
        _id: randomUUID(),
        ...conversation,
        parts: [],
        revision: 1,
        created_at: now,
        updated_at: now,
      };
      await heads.insertOne(document);
      const beyond = await heads
        .find({ user_id: conversation.user_id }, { projection: { _id: 1 } })
        .sort({ updated_at: -1 })
        .skip(keep)
        .toArray();
      await drop(beyond.map(({ _id }) => _id));
      return fromDocument(document);
    },
    async list(userId, { limit, offset }) {
      const [total, found] = await Promise.all([
        heads.countDocuments({ user_id: userId }),
        heads.find({ user_id: userId }).sort({ updated_at: -1 }).skip(offset).limit(limit).toArray(),
      ]);
      return { total, conversations: found.map(fromDocument) };
    },
    async get(userId, conversationId) {
      const head = await heads.findOne({ _id: conversationId, user_id: userId });
      if (head === null) return null;
      const found = await messages.find({ _id: { $in: head.parts.map(({ id }) => id) } }).toArray();
      const byId = new Map(found.map((message) => [message._id, fromMessage(message)]));
      return {
        conversation: fromDocument(head),
        messages: head.parts.flatMap(({ id }) => byId.get(id) ?? []),
      };
    },
    async update(userId, conversationId, changes) {
      const changed = await heads.findOneAndUpdate(
        { _id: conversationId, user_id: userId },
        { $set: { ...changes, updated_at: new Date() }, $inc: { revision: 1 } },
        { returnDocument: 'after' },
      );
      return changed && fromDocument(changed);
    },
    async write(userId, conversationId, { revision, keep, messages: given, most }) {
      const head = await heads.findOne({ _id: conversationId, user_id: userId });
      if (head === null) return null;
      const added = given.map((message) => ({ id: randomUUID(), bytes: sizeOf(message), message }));
      const kept = head.parts.slice(0, keep);
      const parts = [...kept, ...added.map(({ id, bytes }) => ({ id, bytes }))];
      requireRoom(parts, most);
      const now = new Date();
      if (head.revision === revision && added.length > 0)
        await messages.insertMany(
          added.map(({ id, message }) => ({
            _id: id,
            conversation_id: conversationId,
            user_id: userId,
            ...message,
            created_at: now,
          })),
        );
      const changed = await heads.findOneAndUpdate(
        { _id: conversationId, user_id: userId, revision },
        { $set: { parts, updated_at: now }, $inc: { revision: 1 } },
        { returnDocument: 'after' },
      );
      const gone = changed === null ? added : head.parts.slice(kept.length);
      if (gone.length > 0) await messages.deleteMany({ _id: { $in: gone.map(({ id }) => id) } });
      if (changed === null) throw new AppError('CONFLICT', 'The conversation has changed since it was read');
      return fromDocument(changed);
    },
    async remove(userId, conversationId) {
      const { deletedCount } = await heads.deleteOne({ _id: conversationId, user_id: userId });
      if (deletedCount > 0) await messages.deleteMany({ conversation_id: conversationId });
      return deletedCount > 0;
    },
    async removeUser(userId) {
      await heads.deleteMany({ user_id: userId });
      await messages.deleteMany({ user_id: userId });
    },
  });
}
