import { describe, test, expect } from '@jest/globals';
import type { Subject } from '../subject.js';
import type { PromptStore } from '../../../activities/ports/model-administration.js';
import { useSubject } from '../subject.js';
import { times, codesOf } from '../samples.js';

export function promptStoreContract(subject: Subject<PromptStore>): void {
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
}
