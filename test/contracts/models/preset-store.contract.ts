import { describe, test, expect } from '@jest/globals';
import type { Subject } from '../subject.js';
import type { PresetStore } from '../../../activities/ports/model-administration.js';
import { useSubject } from '../subject.js';
import { times, codesOf } from '../samples.js';
import type { RetrievalConfig, PresetRecord, IndexationConfig } from '../../../schemas/models/presets.js';
import { readIndexationConfig, IndexationConfigBody } from '../../../schemas/models/presets-api.js';

export function presetStoreContract(subject: Subject<PresetStore>): void {
  describe(`preset store (${subject.name})`, () => {
    const store = useSubject(subject);
    const retrieval = (top_k: number) => ({
      name: 'default',
      preset_type: 'retrieval' as const,
      config: {
        type: 'single' as const,
        reranker: null,
        llm: null,
        top_k,
        top_n: null,
        enable_reranker: false,
        similarity_threshold: null,
        vector_weight: null,
        include_related: true,
        include_ancestors: true,
        rrf_k: 60,
        hyde_prompt_name: null,
        multi_query_prompt_name: null,
        query_contextualizer_prompt_name: null,
      },
    });

    test('seeds, once of many at once, and lets a seed follow the environment', async () => {
      await Promise.all(times(10, () => store().seed(retrieval(50))));
      const seeded = await store().get('retrieval', 'default');
      expect(seeded).toMatchObject({ ...retrieval(50), seeded: true });
      await store().seed(retrieval(20));
      expect(await store().list('retrieval')).toEqual([{ ...seeded, ...retrieval(20) }]);
      expect(await store().list('indexation')).toEqual([]);
      expect(await store().get('indexation', 'default')).toBeNull();
    });
  });
}

const RETRIEVAL: RetrievalConfig = {
  type: 'single',
  reranker: null,
  llm: null,
  top_k: 50,
  top_n: null,
  enable_reranker: false,
  similarity_threshold: null,
  vector_weight: null,
  include_related: true,
  include_ancestors: true,
  rrf_k: 60,
  hyde_prompt_name: null,
  multi_query_prompt_name: null,
  query_contextualizer_prompt_name: null,
};

function presetNamed(name: string, more: Partial<PresetRecord> = {}): PresetRecord {
  return {
    name,
    preset_type: 'retrieval',
    config: RETRIEVAL,
    seeded: false,
    created_at: new Date('2026-01-01'),
    updated_at: new Date('2026-01-01'),
    ...more,
  } as PresetRecord;
}

export function presetAdministrationContract(subject: Subject<PresetStore>): void {
  describe(`administration of a preset store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('creates a name once, of many at once', async () => {
      const answers = await Promise.allSettled(times(10, () => store().create(presetNamed('new'))));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(new Set(codesOf(answers))).toEqual(new Set(['done', 'PRESET_EXISTS']));
      expect(await store().get('retrieval', 'new')).toEqual(presetNamed('new'));
    });

    test('goes on with a renaming that was begun, and with no other', async () => {
      const begun = presetNamed('second', { renamed_from: 'first' });
      await store().create(begun);
      expect(await store().create(begun)).toEqual(begun);
      await expect(store().create(presetNamed('second'))).rejects.toMatchObject({ code: 'PRESET_EXISTS' });
    });

    test('replaces what was read, and nothing that was changed since', async () => {
      const first = await store().create(presetNamed('edited'));
      const later = presetNamed('edited', { updated_at: new Date('2026-02-01') });
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
        chunk_contextualizer_prompt_name,
        topic_tagger_prompt_name,
        contextualization_mode: 'none',
      } as unknown as IndexationConfig;
      await store().create(presetNamed('earlier', { preset_type: 'indexation', config: earlier }));
      expect((await store().get('indexation', 'earlier'))?.config).toEqual(now);
      expect((await store().list('indexation')).find(({ name }) => name === 'earlier')?.config).toEqual(now);
    });

    test('reads a retrieval preset of before vector weights as one that sets none', async () => {
      const { vector_weight: _, ...earlier } = RETRIEVAL;
      await store().create(presetNamed('unweighed', { config: earlier as RetrievalConfig }));
      expect((await store().get('retrieval', 'unweighed'))?.config).toEqual(RETRIEVAL);
      const listed = (await store().list('retrieval')).find(({ name }) => name === 'unweighed');
      expect(listed?.config).toEqual(RETRIEVAL);
    });

    test('a removed seed stays away, and its name may be used again', async () => {
      const seed = { name: 'hyde', preset_type: 'retrieval' as const, config: RETRIEVAL };
      await store().seed(seed);
      expect(await store().remove('retrieval', 'hyde')).toBe(true);
      expect(await store().remove('retrieval', 'hyde')).toBe(false);
      await store().seed(seed);
      expect(await store().get('retrieval', 'hyde')).toBeNull();
      expect((await store().list()).map(({ name }) => name)).not.toContain('hyde');
      await store().create(presetNamed('hyde'));
      await store().seed(seed);
      expect(await store().get('retrieval', 'hyde')).toEqual(presetNamed('hyde'));
    });
  });
}
