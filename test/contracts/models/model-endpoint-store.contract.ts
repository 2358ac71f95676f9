import { describe, test, expect } from '@jest/globals';
import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';
import type { Subject } from '../subject.js';
import type { ModelEndpointStore } from '../../../activities/ports/models.js';
import { useSubject } from '../subject.js';
import { times, codesOf } from '../samples.js';

function endpoint(overrides: Partial<ModelEndpoint> = {}): ModelEndpoint {
  return {
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
  };
}

export function modelEndpointStoreContract(subject: Subject<ModelEndpointStore>): void {
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
      await store().confirmDefault('stt', 'found');
      expect((await store().defaults()).stt).toBeUndefined();
      await store().setDefaultIfUnset('stt', 'for-want', { provisional: true });
      await store().setDefaultIfUnset('stt', 'second');
      expect((await store().defaults()).stt).toBe('for-want');
      await store().confirmDefault('stt', 'found');
      await store().confirmDefault('stt', 'later');
      expect((await store().defaults()).stt).toBe('found');
      await store().setDefaultIfUnset('vlm', 'for-want', { provisional: true });
      await store().setDefault('vlm', 'chosen');
      await store().confirmDefault('vlm', 'found');
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
}

/** Model endpoints, presets and prompts as administrators change them. */

function endpointNamed(name: string, more: Partial<ModelEndpoint> = {}): ModelEndpoint {
  return {
    name,
    model_type: 'llm',
    endpoint: 'http://models:8000/v1',
    model_name: 'm',
    provider: null,
    sealed_api_key: 'box',
    batch_size: 1,
    timeout: 30.5,
    extra: { 'a.$b': [1, { c: null }] },
    vector_field: null,
    dimension: null,
    context_tokens: null,
    text_form: null,
    probed_at: null,
    created_at: new Date('2026-01-01'),
    updated_at: new Date('2026-01-01'),
    ...more,
  };
}

export function endpointAdministrationContract(subject: Subject<ModelEndpointStore>): void {
  describe(`administration of a model endpoint store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('creates a name once, of many at once', async () => {
      const answers = await Promise.allSettled(times(10, () => store().create(endpointNamed('new'))));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(new Set(codesOf(answers))).toEqual(new Set(['done', 'MODEL_ENDPOINT_EXISTS']));
      expect(await store().get('llm', 'new')).toEqual(endpointNamed('new'));
      await store().create(endpointNamed('new', { model_type: 'vlm' }));
    });

    test('goes on with a renaming that was begun, and with no other', async () => {
      const begun = endpointNamed('second', { renamed_from: 'first', batch_size: 9 });
      await store().create(begun);
      expect(await store().create({ ...begun, batch_size: 5 })).toEqual(begun);
      for (const other of [endpointNamed('second'), endpointNamed('second', { renamed_from: 'third' })])
        await expect(store().create(other)).rejects.toMatchObject({ code: 'MODEL_ENDPOINT_EXISTS' });
    });

    test('replaces what was read, and nothing that was changed or probed since', async () => {
      const first = await store().create(endpointNamed('edited'));
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
}
