import { describe, expect, test } from '@jest/globals';
import type { ConversationStore, NewConversation } from '../../../activities/ports/conversations.js';
import { CONVERSATION_LIMITS } from '../../../schemas/retrieval/conversations.js';
import type { ConversationMessage } from '../../../schemas/retrieval/conversations.js';
import { until } from '../../support/until.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';
import { sampleConversation, sampleMessage } from './conversation-samples.js';

let users = 1_000;

/** What every store of conversations promises: those of a user are this user's alone, and change in one step. */
export function conversationStoreContract(subject: Subject<ConversationStore>): void {
  describe(`conversation store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = async (given: Partial<NewConversation> = {}, keep = 99) => {
      const made = await store().create(sampleConversation({ user_id: (users += 1), ...given }), keep);
      // The next one is a millisecond later.
      await until('a millisecond is over', async () => Date.now() > made.updated_at.getTime(), {
        everyMs: 1,
      });
      return made;
    };
    const write = (
      { user_id: user, conversation_id: id }: { user_id: number; conversation_id: string },
      revision: number,
      messages: ConversationMessage[],
      {
        keep,
        most = CONVERSATION_LIMITS,
      }: { keep?: number; most?: { messages: number; bytes: number } } = {},
    ) => store().write(user, id, { revision, messages, most, ...(keep !== undefined && { keep }) });
    const textsOf = async ({
      user_id: user,
      conversation_id: id,
    }: {
      user_id: number;
      conversation_id: string;
    }) => (await store().get(user, id))?.messages.map(({ content }) => content);
    const listed = async (user: number, limit = 99, offset = 0) =>
      (await store().list(user, { limit, offset })).conversations.map(({ title }) => title);
    const said = (content: string) => sampleMessage({ content });

    test('is kept as it was given', async () => {
      const given = sampleConversation({ user_id: (users += 1), preset: 'careful' });
      const made = await store().create(given, 9);
      expect(made).toEqual({
        ...given,
        conversation_id: expect.any(String),
        messages: 0,
        revision: 1,
        created_at: expect.any(Date),
        updated_at: expect.any(Date),
      });
      const question = sampleMessage({ role: 'user', content: 'What flows?', sources: [], answer_id: null });
      const after = await write(made, 1, [question, sampleMessage()]);
      expect(after).toMatchObject({ messages: 2, revision: 2 });
      const more = { message_id: expect.any(String), created_at: expect.any(Date) };
      expect(await store().get(given.user_id, made.conversation_id)).toEqual({
        conversation: after,
        messages: [
          { ...question, ...more },
          { ...sampleMessage(), ...more },
        ],
      });
    });

    test('appends, and replaces what stands behind the first ones', async () => {
      const made = await create();
      await write(made, 1, [said('a'), said('b'), said('c')]);
      await write(made, 2, [said('d')]);
      expect(await textsOf(made)).toEqual(['a', 'b', 'c', 'd']);
      await write(made, 3, [said('e')], { keep: 1 });
      expect(await textsOf(made)).toEqual(['a', 'e']);
      await write(made, 4, [], { keep: 0 });
      expect(await textsOf(made)).toEqual([]);
    });

    test('refuses a change by whom the present revision is unknown, of two at once one', async () => {
      const made = await create();
      await write(made, 1, [said('a')]);
      await expect(write(made, 1, [said('b')])).rejects.toMatchObject({ code: 'CONFLICT' });
      const both = await Promise.allSettled([write(made, 2, [said('b')]), write(made, 2, [said('c')])]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await textsOf(made)).toHaveLength(2);
    });

    test('takes so many messages and so many bytes', async () => {
      const made = await create();
      const most = { messages: 2, bytes: 2_000 };
      const full = { code: 'CONVERSATION_LIMIT_EXCEEDED' };
      await write(made, 1, [said('a')], { most });
      await expect(write(made, 2, [said('b'), said('c')], { most })).rejects.toMatchObject(full);
      await expect(write(made, 2, [said('x'.repeat(2_000))], { most })).rejects.toMatchObject(full);
      await write(made, 2, [said('b'), said('c')], { most, keep: 0 });
      expect(await textsOf(made)).toEqual(['b', 'c']);
    });

    test('lists a page of a user, the one that was changed last in front', async () => {
      const first = await create({ title: 'first' });
      const { user_id } = first;
      await create({ title: 'second', user_id });
      await create({ title: 'third', user_id });
      await create({ title: 'foreign' });
      await store().update(user_id, first.conversation_id, { title: 'renamed' });
      expect(await listed(user_id)).toEqual(['renamed', 'third', 'second']);
      expect(await listed(user_id, 1, 1)).toEqual(['third']);
      expect((await store().list(user_id, { limit: 1, offset: 0 })).total).toBe(3);
    });

    test('keeps so many of a user', async () => {
      const { user_id } = await create({ title: 'first' });
      const second = await create({ title: 'second', user_id });
      await write(second, 1, [said('a')]);
      await create({ title: 'third', user_id }, 2);
      expect(await listed(user_id)).toEqual(['third', 'second']);
    });

    test('no other user reads, changes or removes it', async () => {
      const { user_id, conversation_id } = await create();
      const other = { user_id: user_id + 1_000_000, conversation_id };
      expect(await store().get(other.user_id, conversation_id)).toBeNull();
      expect(await store().update(other.user_id, conversation_id, { title: 'mine' })).toBeNull();
      expect(await write(other, 1, [said('mine')])).toBeNull();
      expect(await store().remove(other.user_id, conversation_id)).toBe(false);
      expect(await store().get(user_id, conversation_id)).toMatchObject({
        conversation: { title: 'Rivers', revision: 1 },
        messages: [],
      });
    });

    test('removes one, and all of a user', async () => {
      const first = await create();
      const { user_id } = first;
      await write(first, 1, [said('a')]);
      const second = await create({ user_id });
      const foreign = await create();
      await write(foreign, 1, [said('b')]);
      expect(await store().remove(user_id, first.conversation_id)).toBe(true);
      expect(await store().remove(user_id, first.conversation_id)).toBe(false);
      expect(await textsOf(second)).toEqual([]);
      await store().removeUser(user_id);
      expect(await listed(user_id)).toEqual([]);
      expect(await textsOf(foreign)).toEqual(['b']);
    });
  });
}
