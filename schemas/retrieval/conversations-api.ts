import { z } from 'zod';
import { queryNumber } from '../documents/documents-api.js';
import { CONVERSATION_LIMITS as LIMITS, MESSAGE_STATES } from './conversations.js';

/** Bodies of the conversations that a user keeps, as `/openapi.json` shows them. */

const name = z.string().min(1).max(255);

const Scope = z
  .strictObject({
    partition: name.nullish(),
    workspace: name.nullish(),
    file_id: name.nullish(),
  })
  .refine(({ partition, workspace, file_id: file }) => partition || (!workspace && !file), {
    message: 'A workspace or a file stands in a partition',
  });

const settings = {
  title: z.string().trim().min(1).max(LIMITS.title),
  scope: Scope,
  preset: name.nullish(),
};

export const NewConversation = z
  .strictObject({ ...settings, scope: Scope.default({}) })
  .meta({ id: 'NewConversation' });

export const ConversationChange = z
  .strictObject(settings)
  .partial()
  .meta({ id: 'ConversationChange', description: 'What is left out stays' });

const count = z.int().min(0).max(10_000_000);

const Source = z
  .strictObject({
    source_type: z.enum(['document', 'web']),
    number: z.int().min(1).max(1_000).meta({ description: 'By which the answer names it' }),
    cited: z.boolean().default(false),
    chunk_id: z.string().max(500).nullish(),
    partition: name.nullish(),
    file_id: name.nullish(),
    title: z.string().max(500).nullish(),
    page: count.nullish(),
    char_start: count.nullish().meta({ description: 'Of the quote, in Unicode code points' }),
    char_end: count.nullish(),
    verified: z.boolean().nullish(),
    url: z.string().max(2_000).nullish(),
  })
  .meta({ id: 'ConversationSource' });

const message = {
  role: z.enum(['user', 'assistant']),
  content: z.string().max(LIMITS.content),
  state: z.enum(MESSAGE_STATES).default('done').meta({ description: 'How an answer ended' }),
  answer_id: z.string().max(100).nullish().meta({ description: 'The `id` of the chat completion' }),
  sources: z.array(Source).max(LIMITS.sources).default([]),
  degraded: z.array(z.string().max(100)).max(20).default([]),
  truncated: z.boolean().default(false),
};

export const MessagesBody = z
  .strictObject({
    revision: z
      .int()
      .min(1)
      .meta({ description: 'The one that the caller has seen; another change since then is a conflict' }),
    keep: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'So many of the first messages stay, the rest goes; all of them by default' }),
    messages: z.array(z.strictObject(message)).max(20),
  })
  .meta({ id: 'ConversationMessages' });

export const ConversationsQuery = z.object({
  limit: queryNumber(z.int().min(1).max(100)).default(50),
  offset: queryNumber(z.int().min(0).max(LIMITS.conversations)).default(0),
});

const head = {
  conversation_id: z.string(),
  title: z.string(),
  scope: z.object({
    partition: z.string().nullable(),
    workspace: z.string().nullable(),
    file_id: z.string().nullable(),
  }),
  preset: z.string().nullable(),
  message_count: z.int(),
  revision: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

export const ConversationHead = z.object(head).meta({ id: 'ConversationHead' });

export const ConversationList = z
  .object({
    total: z.int(),
    conversations: z
      .array(ConversationHead)
      .meta({ description: 'The one that was changed last comes first' }),
  })
  .meta({ id: 'ConversationList' });

export const Conversation = z
  .object({
    ...head,
    messages: z.array(
      z.object({
        ...message,
        message_id: z.string(),
        created_at: z.iso.datetime(),
        state: z.enum(MESSAGE_STATES),
        answer_id: z.string().nullable(),
        sources: z.array(Source),
        degraded: z.array(z.string()),
        truncated: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Conversation' });
