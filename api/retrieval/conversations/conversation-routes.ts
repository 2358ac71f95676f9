import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { CONVERSATION_LIMITS } from '../../../schemas/retrieval/conversations.js';
import type {
  ConversationRecord,
  ConversationScope,
  StoredMessage,
} from '../../../schemas/retrieval/conversations.js';
import {
  Conversation,
  ConversationChange,
  ConversationHead,
  ConversationList,
  ConversationsQuery,
  MessagesBody,
  NewConversation,
} from '../../../schemas/retrieval/conversations-api.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { empty, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';

const CONVERSATIONS = '/users/me/conversations';
const CONVERSATION = `${CONVERSATIONS}/{conversation_id}`;
const TAG = 'Conversations';

const ConversationParams = z.object({ conversation_id: z.string() });

/** Conversations of the caller alone: no other user reads them, administrators included. */
export function conversationRoutes({
  adapters: { conversations, users },
}: {
  adapters: Pick<GatewayDeps['adapters'], 'conversations' | 'users'>;
}): Route[] {
  return [
    route({
      method: 'get',
      path: CONVERSATIONS,
      summary: "The caller's conversations, without their messages",
      tag: TAG,
      auth: 'user',
      request: { query: ConversationsQuery },
      responses: { 200: { description: 'A page of them', schema: ConversationList } },
      errors: ['VALIDATION_ERROR'],
      async handle({ principal }, { query }) {
        const { total, conversations: found } = await conversations.list(principal.userId, query);
        return json(200, { total, conversations: found.map(presentHead) });
      },
    }),
    route({
      method: 'post',
      path: CONVERSATIONS,
      summary: 'Begin a conversation; beyond 500 the one that rested longest goes',
      tag: TAG,
      auth: 'user',
      request: { body: NewConversation },
      responses: { 201: { description: 'Without messages', schema: ConversationHead } },
      errors: ['VALIDATION_ERROR'],
      async handle({ principal: { userId } }, { body: { title, scope, preset } }) {
        const record = await conversations.create(
          { user_id: userId, title, scope: scopeOf(scope), preset: preset ?? null },
          CONVERSATION_LIMITS.conversations,
        );
        // Deleted in this moment: that deletion may have looked at the conversations already.
        if ((await users.get(userId)) === null) await conversations.removeUser(userId);
        return json(201, presentHead(record));
      },
    }),
    route({
      method: 'get',
      path: CONVERSATION,
      summary: 'A conversation with its messages and their sources',
      tag: TAG,
      auth: 'user',
      request: { params: ConversationParams },
      responses: { 200: { description: 'In their order', schema: Conversation } },
      errors: ['NOT_FOUND'],
      async handle({ principal }, { params }) {
        const found = await conversations.get(principal.userId, params.conversation_id);
        const { conversation, messages } = required(found);
        return json(200, { ...presentHead(conversation), messages: messages.map(presentMessage) });
      },
    }),
    route({
      method: 'patch',
      path: CONVERSATION,
      summary: 'Rename a conversation, or change what the next question of it is about',
      tag: TAG,
      auth: 'user',
      request: { params: ConversationParams, body: ConversationChange },
      responses: { 200: { description: 'Changed', schema: ConversationHead } },
      errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ principal }, { params, body: { title, scope, preset } }) {
        const changed = await conversations.update(principal.userId, params.conversation_id, {
          ...(title !== undefined && { title }),
          ...(scope !== undefined && { scope: scopeOf(scope) }),
          ...(preset !== undefined && { preset }),
        });
        return json(200, presentHead(required(changed)));
      },
    }),
    route({
      method: 'post',
      path: `${CONVERSATION}/messages`,
      summary: 'Append messages, or replace those behind the first so many',
      tag: TAG,
      auth: 'user',
      request: { params: ConversationParams, body: MessagesBody },
      responses: { 200: { description: 'Stored', schema: ConversationHead } },
      errors: ['NOT_FOUND', 'CONFLICT', 'CONVERSATION_LIMIT_EXCEEDED', 'VALIDATION_ERROR'],
      async handle({ principal: { userId } }, { params, body: { revision, keep, messages } }) {
        const changed = await conversations.write(userId, params.conversation_id, {
          revision,
          ...(keep !== undefined && { keep }),
          messages: messages.map(({ sources, answer_id: answerId, ...message }) => ({
            ...message,
            answer_id: answerId ?? null,
            sources: sources.map(sourceOf),
          })),
          most: CONVERSATION_LIMITS,
        });
        return json(200, presentHead(required(changed)));
      },
    }),
    route({
      method: 'delete',
      path: CONVERSATION,
      summary: 'Delete a conversation',
      tag: TAG,
      auth: 'user',
      request: { params: ConversationParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['NOT_FOUND'],
      async handle({ principal }, { params }) {
        if (!(await conversations.remove(principal.userId, params.conversation_id))) throw notThere();
        return empty(204);
      },
    }),
  ];
}

function notThere(): AppError {
  return new AppError('NOT_FOUND', 'There is no such conversation of yours');
}

function required<T>(found: T | null): T {
  if (found === null) throw notThere();
  return found;
}

function scopeOf(given: z.output<typeof NewConversation>['scope']): ConversationScope {
  return {
    partition: given.partition ?? null,
    workspace: given.workspace ?? null,
    file_id: given.file_id ?? null,
  };
}

type GivenSource = z.output<typeof MessagesBody>['messages'][number]['sources'][number];

function sourceOf(given: GivenSource) {
  return {
    source_type: given.source_type,
    number: given.number,
    cited: given.cited,
    chunk_id: given.chunk_id ?? null,
    partition: given.partition ?? null,
    file_id: given.file_id ?? null,
    title: given.title ?? null,
    page: given.page ?? null,
    char_start: given.char_start ?? null,
    char_end: given.char_end ?? null,
    verified: given.verified ?? null,
    url: given.url ?? null,
  };
}

function presentHead({ user_id: _user, messages, created_at, updated_at, ...record }: ConversationRecord) {
  return {
    ...record,
    message_count: messages,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

function presentMessage({ created_at, ...message }: StoredMessage) {
  return { ...message, created_at: created_at.toISOString() };
}
