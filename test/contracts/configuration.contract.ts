import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { PromptStore, PresetStore } from '../../activities/ports/model-administration.js';
import type { ModelEndpointStore } from '../../activities/ports/models.js';
import type { PartitionStore } from '../../activities/ports/partitions.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import type { IndexationConfig, PresetRecord, RetrievalConfig } from '../../schemas/models/presets.js';
import { IndexationConfigBody, readIndexationConfig } from '../../schemas/models/presets-api.js';
import { codesOf, times } from './samples.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

/** Model endpoints, presets and prompts as administrators change them. */

const endpoint = (name: string, more: Partial<ModelEndpoint> = {}): ModelEndpoint => ({
  ...{ name, model_type: 'llm', endpoint: 'http://models:8000/v1', model_name: 'm', provider: null },
  ...{ sealed_api_key: 'box', batch_size: 1, timeout: 30.5, extra: { 'a.$b': [1, { c: null }] } },
  ...{ vector_field: null, dimension: null, context_tokens: null, text_form: null, probed_at: null },
  ...{ created_at: new Date('2026-01-01'), updated_at: new Date('2026-01-01') },
  ...more,
});

export const endpointAdministrationContract = (subject: Subject<ModelEndpointStore>): void => {
  describe(`administration of a model endpoint store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('creates a name once, of many at once', async () => {
      const answers = await Promise.allSettled(times(10, () => store().create(endpoint('new'))));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(new Set(codesOf(answers))).toEqual(new Set(['done', 'MODEL_ENDPOINT_EXISTS']));
      expect(await store().get('llm', 'new')).toEqual(endpoint('new'));
      await store().create(endpoint('new', { model_type: 'vlm' }));
    });

    test('goes on with a renaming that was begun, and with no other', async () => {
      const begun = endpoint('second', { renamed_from: 'first', batch_size: 9 });
      await store().create(begun);
      expect(await store().create({ ...begun, batch_size: 5 })).toEqual(begun);
      for (const other of [endpoint('second'), endpoint('second', { renamed_from: 'third' })])
        await expect(store().create(other)).rejects.toMatchObject({ code: 'MODEL_ENDPOINT_EXISTS' });
    });

    test('replaces what was read, and nothing that was changed or probed since', async () => {
      const first = await store().create(endpoint('edited'));
      const later = { ...first, model_name: 'n', updated_at: new Date('2026-02-01') };
      expect(await store().replace(first, later)).toBe(true);
      expect(await store().replace(first, { ...first, model_name: 'o' })).toBe(false);
      expect(await store().get('llm', 'edited')).toEqual(later);
      const facts = { provider: 'openai', dimension: null, context_tokens: 9, text_form: null } as const;
      const probed = await store().recordProbe(later, facts, new Date());
      expect(await store().replace(later, first)).toBe(false);
      expect(await store().replace(probed!, first)).toBe(true);
      expect(await store().remove('llm', 'edited')).toBe(true);
      expect(await store().remove('llm', 'edited')).toBe(false);
      expect(await store().replace(first, later)).toBe(false);
    });

    test('a default moves only from where it is', async () => {
      await store().setDefault('stt', 'a');
      await store().moveDefault('stt', 'b', 'c');
      expect((await store().defaults()).stt).toBe('a');
      await store().moveDefault('stt', 'a', 'c');
      expect((await store().defaults()).stt).toBe('c');
      await store().moveDefault('stt', 'c', null);
      expect((await store().defaults()).stt).toBeUndefined();
      await store().setDefaultIfUnset('stt', 'd');
      expect((await store().defaults()).stt).toBe('d');
    });
  });
};

const RETRIEVAL: RetrievalConfig = {
  ...{ type: 'single', reranker: null, llm: null, top_k: 50, top_n: null, enable_reranker: false },
  ...{ similarity_threshold: null, include_related: true, include_ancestors: true, rrf_k: 60 },
  ...{ hyde_prompt_name: null, multi_query_prompt_name: null, query_contextualizer_prompt_name: null },
};

const preset = (name: string, more: Partial<PresetRecord> = {}): PresetRecord =>
  ({
    ...{ name, preset_type: 'retrieval', config: RETRIEVAL, seeded: false },
    ...{ created_at: new Date('2026-01-01'), updated_at: new Date('2026-01-01') },
    ...more,
  }) as PresetRecord;

export const presetAdministrationContract = (subject: Subject<PresetStore>): void => {
  describe(`administration of a preset store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('creates a name once, of many at once', async () => {
      const answers = await Promise.allSettled(times(10, () => store().create(preset('new'))));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(new Set(codesOf(answers))).toEqual(new Set(['done', 'PRESET_EXISTS']));
      expect(await store().get('retrieval', 'new')).toEqual(preset('new'));
    });

    test('goes on with a renaming that was begun, and with no other', async () => {
      const begun = preset('second', { renamed_from: 'first' });
      await store().create(begun);
      expect(await store().create(begun)).toEqual(begun);
      await expect(store().create(preset('second'))).rejects.toMatchObject({ code: 'PRESET_EXISTS' });
    });

    test('replaces what was read, and nothing that was changed since', async () => {
      const first = await store().create(preset('edited'));
      const later = preset('edited', { updated_at: new Date('2026-02-01') });
      expect(await store().replace(first, later)).toBe(true);
      expect(await store().replace(first, first)).toBe(false);
      expect(await store().get('retrieval', 'edited')).toEqual(later);
    });

    test('reads a config of an earlier release under the names of now', async () => {
      const now = readIndexationConfig(
        IndexationConfigBody.parse({
          enable_contextualization: true,
          contextualization_prompt_name: 'mine',
          topic_tagging_prompt_name: 'tags',
        }),
      ).config;
      const {
        contextualization_prompt_name: chunk_contextualizer_prompt_name,
        topic_tagging_prompt_name: topic_tagger_prompt_name,
        topic_tagging_llm: _,
        ...rest
      } = now;
      const earlier = {
        ...rest,
        ...{ chunk_contextualizer_prompt_name, topic_tagger_prompt_name, contextualization_mode: 'none' },
      } as unknown as IndexationConfig;
      await store().create(preset('earlier', { preset_type: 'indexation', config: earlier }));
      expect((await store().get('indexation', 'earlier'))?.config).toEqual(now);
      expect((await store().list('indexation')).find(({ name }) => name === 'earlier')?.config).toEqual(now);
    });

    test('a removed seed stays away, and its name may be used again', async () => {
      const seed = { name: 'hyde', preset_type: 'retrieval' as const, config: RETRIEVAL };
      await store().seed(seed);
      expect(await store().remove('retrieval', 'hyde')).toBe(true);
      expect(await store().remove('retrieval', 'hyde')).toBe(false);
      await store().seed(seed);
      expect(await store().get('retrieval', 'hyde')).toBeNull();
      expect((await store().list()).map(({ name }) => name)).not.toContain('hyde');
      await store().create(preset('hyde'));
      await store().seed(seed);
      expect(await store().get('retrieval', 'hyde')).toEqual(preset('hyde'));
    });
  });
};

export const promptStoreContract = (subject: Subject<PromptStore>): void => {
  describe(`prompt store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = (name: string, content = 'text') => store().create({ prompt_type: 'hyde', name, content });

    test('has a name once in a type, of many at once', async () => {
      const answers = await Promise.allSettled(times(10, () => create('one')));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(new Set(codesOf(answers))).toEqual(new Set(['done', 'PROMPT_EXISTS']));
      await store().create({ prompt_type: 'multi_query', name: 'one', content: 'x' });
      const listed = await store().list({ type: 'hyde' });
      expect(listed.map(({ name }) => name)).toEqual(['one']);
      expect(await store().get(listed[0]!.id)).toEqual(listed[0]);
      expect(await store().find('hyde', 'one')).toEqual(listed[0]);
      expect(await store().get('nothing')).toBeNull();
    });

    test('is found by its former name, until another one has it', async () => {
      const { id } = await create('before');
      const renamed = await store().update(id, { name: 'after', content: 'new' });
      expect(renamed).toMatchObject({ id, name: 'after', content: 'new' });
      expect(await store().find('hyde', 'before')).toEqual(renamed);
      const other = await create('before');
      expect(await store().find('hyde', 'before')).toEqual(other);
      expect(await store().find('hyde', 'after')).toEqual(renamed);
      await expect(store().update(id, { name: 'before' })).rejects.toMatchObject({ code: 'PROMPT_EXISTS' });
      expect(await store().update('nothing', { name: 'x' })).toBeNull();
      expect(await store().remove(other.id)).toBe(true);
      expect(await store().remove(other.id)).toBe(false);
    });

    test('pages by type and name', async () => {
      for (const name of ['c', 'a', 'b'])
        await store().create({ prompt_type: 'topic_tagger', name, content: 'x' });
      const page = (offset: number, limit: number) =>
        store()
          .list({ type: 'topic_tagger', offset, limit })
          .then((found) => found.map(({ name }) => name));
      expect([await page(0, 2), await page(2, 2), await page(3, 2)]).toEqual([['a', 'b'], ['c'], []]);
    });

    test('bundled texts are the first defaults, and follow the release until they are edited', async () => {
      await Promise.all(times(5, () => store().seed({ sys_prompt: 'one' })));
      const id = (await store().defaults()).sys_prompt!;
      expect(await store().get(id)).toMatchObject({ name: 'default', content: 'one' });
      await store().seed({ sys_prompt: 'two', asr_transcription: 'listen' });
      expect(await store().get(id)).toMatchObject({ content: 'two' });
      expect(await store().find('asr_transcription', 'default')).toMatchObject({ content: 'listen' });
      await store().update(id, { content: 'mine' });
      await store().seed({ sys_prompt: 'three' });
      expect(await store().get(id)).toMatchObject({ content: 'mine' });
      const other = await store().create({ prompt_type: 'sys_prompt', name: 'other', content: 'x' });
      await store().setDefault('sys_prompt', other.id);
      await store().remove(id);
      await store().seed({ sys_prompt: 'four' });
      expect(await store().get(id)).toBeNull();
      expect((await store().defaults()).sys_prompt).toBe(other.id);
    });
  });
};

export const partitionReferenceContract = (subject: Subject<PartitionStore>): void => {
  describe(`names in the settings of a partition store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('take another name wherever they stand', async () => {
      const [one, two] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      await store().create({ partition: one, embedder: 'old', ownerId: 1 });
      await store().create({ partition: two, embedder: 'other', ownerId: 1 });
      const names = {
        indexation_preset: 'old',
        chat_llm: 'old',
        generation_prompt_names: { sys_prompt: 'old' },
      };
      await store().update(one, names);
      await store().renameReference('embedder', 'old', 'new');
      await store().renameReference('indexation_preset', 'old', 'new');
      await store().renameReference('generation_prompt_names.sys_prompt', 'old', 'new');
      expect(await store().get(one)).toMatchObject({
        ...{ embedder: 'new', indexation_preset: 'new', retrieval_preset: 'default', chat_llm: 'old' },
        generation_prompt_names: { sys_prompt: 'new' },
      });
      expect(await store().get(two)).toMatchObject({ embedder: 'other', indexation_preset: 'default' });
    });
  });
};
