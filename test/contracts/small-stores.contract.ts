import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { CounterStore } from '../../activities/ports/files.js';
import type { ModelEndpointStore } from '../../activities/ports/models.js';
import type { PartitionStore } from '../../activities/ports/partitions.js';
import type { UserStore } from '../../activities/ports/users.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import type { Scope } from '../../schemas/documents/users.js';
import { times } from './samples.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

export const counterStoreContract = (subject: Subject<CounterStore>): void => {
  describe(`counter store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('200 calls at once answer 200 numbers, and later ones are greater', async () => {
      const numbers = await Promise.all(times(200, () => store().nextGeneration()));
      expect(new Set(numbers).size).toBe(200);
      expect(await store().nextGeneration()).toBeGreaterThan(Math.max(...numbers));
      expect(numbers.every((number) => Number.isSafeInteger(number) && number > 0)).toBe(true);
    });
  });
};

export const userStoreContract = (subject: Subject<UserStore>): void => {
  describe(`user store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('has one admin, whose token can change and go', async () => {
      const [first] = await Promise.all(times(10, () => store().ensureAdmin('digest-1')));
      expect(first).toMatchObject({ user_id: 1, is_admin: true, token_digest: 'digest-1' });
      expect(await store().findByTokenDigest('digest-1')).toEqual(first);
      expect(await store().get(1)).toEqual(first);
      expect(await store().ensureAdmin('digest-2')).toEqual({ ...first, token_digest: 'digest-2' });
      expect(await store().findByTokenDigest('digest-1')).toBeNull();
      expect(await store().ensureAdmin(null)).toMatchObject({ user_id: 1, token_digest: null });
      expect(await store().findByTokenDigest('digest-2')).toBeNull();
      expect(await store().get(2)).toBeNull();
    });
  });
};

export const partitionStoreContract = (subject: Subject<PartitionStore>): void => {
  describe(`partition store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = (partition: string, ownerId: number) =>
      store().create({ partition, embedder: 'builtin/hash-1024', ownerId });

    test('creates a partition with its owner, once of 20 at once', async () => {
      const partition = `p-${randomUUID()}`;
      const answers = await Promise.allSettled(times(20, (index) => create(partition, 100 + index)));
      const created = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      expect(created).toHaveLength(1);
      for (const answer of answers)
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'PARTITION_EXISTS' });
      const record = await store().get(partition);
      expect(record).toEqual(created[0]);
      const roles = await Promise.all(times(20, (index) => store().roleOf(100 + index, partition)));
      expect(roles.filter((role) => role === 'owner')).toHaveLength(1);
      expect(roles[(record?.created_by ?? 0) - 100]).toBe('owner');
    });

    test('is gone for every reader once it is deleted, and the name is free after that', async () => {
      const partition = `d-${randomUUID()}`;
      const made = await create(partition, 55);
      const answers = await Promise.all(times(5, () => store().markDeleted(partition)));
      expect(answers.filter((answer) => answer !== null)).toEqual([made]);
      expect(await store().get(partition)).toBeNull();
      expect(await store().roleOf(55, partition)).toBeNull();
      expect(await store().memberships(55)).toEqual([]);
      const everything = await store().list({ kind: 'all', userId: 1 });
      expect(everything.map((record) => record.partition)).not.toContain(partition);
      expect(await store().listDeleted()).toContainEqual(made);
      await expect(create(partition, 56)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store().removeDeleted({ ...made, partition_key: 'another' });
      await expect(create(partition, 56)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store().removeDeleted(made);
      const again = await create(partition, 56);
      expect(again.partition_key).not.toBe(made.partition_key);
      await store().removeDeleted(again);
      expect(await store().get(partition)).toEqual(again);
      expect(await store().markDeleted('none')).toBeNull();
    });

    test('lists memberships and what lies inside a scope', async () => {
      const names = times(3, (index) => `q${index}-${randomUUID()}`);
      for (const name of names) await create(name, 7);
      await create('constructor', 8);
      expect(await store().memberships(7)).toEqual(
        names.map((partition) => ({ user_id: 7, partition, role: 'owner', added_at: expect.any(Date) })),
      );
      const scope: Scope = { kind: 'partitions', userId: 7, roles: { [names[1] ?? '']: 'viewer' } };
      expect((await store().list(scope)).map(({ partition }) => partition)).toEqual([names[1]]);
      const all = (await store().list({ kind: 'all', userId: 1 })).map(({ partition }) => partition);
      expect(all).toEqual(expect.arrayContaining([...names, 'constructor']));
      expect(all).toEqual([...all].sort());
      expect(await store().roleOf(9, names[0] ?? '')).toBeNull();
      expect(await store().memberships(9)).toEqual([]);
      expect(await store().get('none')).toBeNull();
    });
  });
};

const endpoint = (overrides: Partial<ModelEndpoint> = {}): ModelEndpoint => ({
  name: 'first',
  model_type: 'embedder',
  endpoint: 'builtin:',
  model_name: 'hash-1024',
  provider: 'builtin',
  sealed_api_key: null,
  batch_size: 64,
  timeout: 30,
  extra: { provider: 'x', 'a.b': { $c: [1, null] } },
  vector_field: 'vector_first',
  dimension: 1024,
  context_tokens: null,
  text_form: null,
  probed_at: null,
  created_at: new Date('2026-01-01'),
  updated_at: new Date('2026-01-01'),
  ...overrides,
});

export const modelEndpointStoreContract = (subject: Subject<ModelEndpointStore>): void => {
  describe(`model endpoint store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('seeds what is missing and leaves the rest alone', async () => {
      await Promise.all(times(10, () => store().seed(endpoint())));
      await store().seed(endpoint({ endpoint: 'http://changed' }));
      await store().seed(endpoint({ model_type: 'llm', vector_field: null, dimension: null }));
      expect(await store().get('embedder', 'first')).toEqual(endpoint());
      expect(await store().get('reranker', 'first')).toBeNull();
      expect(await store().list()).toHaveLength(2);
      expect((await store().list('llm')).map(({ model_type }) => model_type)).toEqual(['llm']);
    });

    test('writes down what a probe told, once, and of the same model only', async () => {
      const named = endpoint({ name: 'probed', dimension: null, model_name: 'a' });
      await store().seed(named);
      const facts = {
        provider: 'ollama',
        dimension: 384,
        context_tokens: 512,
        text_form: 'wordpiece',
      } as const;
      const at = new Date('2026-02-02');
      const expected = { ...named, ...facts, probed_at: at };
      const answers = await Promise.all(times(5, () => store().recordProbe(named, facts, at)));
      for (const answer of answers) expect(answer).toEqual(expected);
      expect(await store().recordProbe(named, { ...facts, dimension: 1024 }, new Date())).toEqual(expected);
      expect(await store().recordProbe({ ...named, model_name: 'b' }, facts, new Date())).toEqual(expected);
      expect(await store().recordProbe({ ...named, endpoint: 'http://b' }, facts, new Date())).toEqual(
        expected,
      );
      expect(await store().get('embedder', 'probed')).toEqual(expected);
      expect(await store().recordProbe({ ...named, name: 'none' }, facts, at)).toBeNull();
    });

    test('overwrites a record whole', async () => {
      await store().save(endpoint({ name: 'saved' }));
      const changed = endpoint({
        name: 'saved',
        endpoint: 'http://b',
        sealed_api_key: 'box',
        dimension: null,
      });
      await store().save(changed);
      expect(await store().get('embedder', 'saved')).toEqual(changed);
    });

    test('a provisional default gives way once; a chosen one does not', async () => {
      await store().settleDefault('stt', 'found');
      expect((await store().defaults()).stt).toBeUndefined();
      await store().setDefaultIfUnset('stt', 'for-want', { provisional: true });
      await store().setDefaultIfUnset('stt', 'second');
      expect((await store().defaults()).stt).toBe('for-want');
      await store().settleDefault('stt', 'found');
      await store().settleDefault('stt', 'later');
      expect((await store().defaults()).stt).toBe('found');
      await store().setDefaultIfUnset('vlm', 'for-want', { provisional: true });
      await store().setDefault('vlm', 'chosen');
      await store().settleDefault('vlm', 'found');
      expect((await store().defaults()).vlm).toBe('chosen');
    });
  });

  describe(`model endpoint store, defaults (${subject.name})`, () => {
    const store = useSubject(subject);

    test('one default of each type: the first one stays', async () => {
      expect(await store().defaults()).toEqual({});
      await Promise.all(times(10, (index) => store().setDefaultIfUnset('embedder', `e${index}`)));
      const { embedder } = await store().defaults();
      expect(embedder).toMatch(/^e\d$/);
      await Promise.all([
        store().setDefaultIfUnset('embedder', 'later'),
        store().setDefaultIfUnset('llm', 'speaker'),
        store().setDefaultIfUnset('reranker', 'sorter'),
      ]);
      expect(await store().defaults()).toEqual({ embedder, llm: 'speaker', reranker: 'sorter' });
    });
  });
};
