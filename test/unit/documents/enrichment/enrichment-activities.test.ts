import { describe, expect, it } from '@jest/globals';
import { readTags } from '../../../../activities/documents/enrichment/topic-tags.js';
import { AppError } from '../../../../schemas/app-error.js';
import { inActivity, refOf } from '../../../support/activity-bench.js';
import { enrichmentBench as open } from '../../../support/enrichment-bench.js';
import type { Answer } from '../../../support/enrichment-bench.js';
import { wholeChunks } from '../../../support/whole-chunks.js';

const CONTEXT = { enable_contextualization: true, contextualization_mode: 'simple' as const };

function passageIn(question: string): string {
  return /<passage>\n([\s\S]*)\n<\/passage>/.exec(question)?.[1] ?? '';
}

describe('a preset without enrichments', () => {
  it('asks no model', async () => {
    const bench = await open({ contextualization_mode: 'simple' }, () => 'never');
    const { enrich, live } = await bench.index(await bench.admit('a', 'text'));
    expect([enrich, live?.degraded_stages, bench.model.asked]).toEqual([undefined, [], []]);
    expect(bench.embedded).toEqual(['one', 'two', 'three']);
  });
});

describe('the headings of a chunk', () => {
  it('are embedded with it, after its context, up to a bound, and not shown twice', async () => {
    const headings = ['Manual', `Part ${'x'.repeat(400)}`];
    const bench = await open(CONTEXT, () => 'About it.', { texts: ['one'], headings });
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(bench.embedded).toEqual([`About it.\n\n${headings.join(' > ').slice(0, 300)}\n\none`]);
    const chunks = await bench.chunks.listByFile('key-of-a', live?.generation ?? 0);
    expect(chunks.map(({ text }) => text)).toEqual(['one']);
  });
});

describe('contextualisation', () => {
  it('is embedded with each chunk, and shown nowhere', async () => {
    const bench = await open(CONTEXT, (question) => `  About\n${passageIn(question)}. `);
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(live?.degraded_stages).toEqual([]);
    expect(bench.embedded).toEqual(['About one.\n\none', 'About two.\n\ntwo', 'About three.\n\nthree']);
    const chunks = await bench.chunks.listByFile(live ? 'key-of-a' : '', live?.generation ?? 0);
    expect(chunks.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(bench.model.asked[1]).toContain('one\n\ntwo\n\nthree');
    expect(await bench.drifts()).toEqual([]);
  });

  it('holds nothing that no store takes, also where it is cut', async () => {
    const bench = await open(CONTEXT, () => `A\u0000b \ud83d ${'x'.repeat(995)}😀`, { texts: ['one'] });
    await bench.index(await bench.admit('a', 'text'));
    expect(bench.embedded).toEqual([`A b ${'x'.repeat(995)}\n\none`]);
  });

  it('shows the model whole characters of the text around', async () => {
    const texts = [`${'x'.repeat(5999)}😀`, `😀${'y'.repeat(1599)}`, 'one'];
    const simple = await open(CONTEXT, () => 'x', { texts });
    await simple.index(await simple.admit('a', 'text'));
    expect(simple.model.asked.at(-1)).toContain(`${'x'.repeat(5999)}\n`);
    const structured = await open({ ...CONTEXT, contextualization_mode: 'structured' }, () => 'x', { texts });
    await structured.index(await structured.admit('a', 'text'));
    expect(structured.model.asked.at(-1)).toContain('y'.repeat(1599));
    const halves = /\p{Surrogate}/u;
    expect([...simple.model.asked, ...structured.model.asked].filter((text) => halves.test(text))).toEqual(
      [],
    );
  });

  it('shows the chunk before in mode structured, also across parts', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const bench = await open({ ...CONTEXT, contextualization_mode: 'structured' }, () => 'x', { texts });
    await bench.index(await bench.admit('a', 'text'));
    const before = (question: string) => /<before>\n([\s\S]*)\n<\/before>/.exec(question)?.[1];
    for (const question of bench.model.asked) {
      const number = Number(passageIn(question).split(' ')[1]);
      expect(before(question)).toBe(number === 0 ? '' : `text ${number - 1}`);
    }
    expect(bench.model.asked).toHaveLength(20);
  });

  it('goes on after a crash with what is missing', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
    let broken = true;
    const bench = await open(CONTEXT, (question) => `About ${passageIn(question)}.`, { texts });
    const { write } = bench.blobs;
    bench.blobs.write = async (blob, ...rest) => {
      if (broken && blob.blobId.endsWith('.contexts.1')) throw new AppError('SERVICE_UNAVAILABLE');
      return write(blob, ...rest);
    };
    const task = await bench.admit('a', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    await expect(inActivity(() => bench.enrichDocument(refOf(task))).result).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(bench.model.asked).toHaveLength(32);
    broken = false;
    await inActivity(() => bench.enrichDocument(refOf(task)), { attempt: 2 }).result;
    // The part that was put down is not paid for again.
    expect(bench.model.asked).toHaveLength(32 + 24);
    await inActivity(() => bench.enrichDocument(refOf(task)), { attempt: 3 }).result;
    expect(bench.model.asked).toHaveLength(32 + 24);
  });

  it('lacks what an attempt before a crash could not have of the model', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    let failing = true;
    const bench = await open(
      CONTEXT,
      (question) => {
        if (failing && passageIn(question) === 'text 3') throw new AppError('INFERENCE_CONNECTION_ERROR');
        return 'Context.';
      },
      { texts },
    );
    const task = await bench.admit('a', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    const { write } = bench.blobs;
    bench.blobs.write = async (blob, ...rest) => {
      if (failing && blob.blobId.endsWith('.contexts.1')) throw new AppError('SERVICE_UNAVAILABLE');
      return write(blob, ...rest);
    };
    await expect(inActivity(() => bench.enrichDocument(refOf(task))).result).rejects.toThrow();
    failing = false;
    const retry = inActivity(() => bench.enrichDocument(refOf(task)), { attempt: 2 });
    expect(await retry.result).toEqual({ degraded: ['contextualize'] });
    expect((await bench.tasks.get(task.task_id))?.degraded_stages).toEqual(['contextualize']);
  });

  it('is given up when the model keeps failing, and the document is indexed all the same', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
    const failing: Answer = (question) => {
      if (Number(passageIn(question).split(' ')[1]) >= 20) throw new AppError('INFERENCE_CONNECTION_ERROR');
      return 'Context.';
    };
    const bench = await open(CONTEXT, failing, { texts });
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(live).toMatchObject({ chunk_count: 40, degraded_stages: ['contextualize'] });
    expect(bench.model.asked.length).toBeLessThan(28);
    expect(bench.embedded.slice(14, 18)).toEqual([
      'Context.\n\ntext 14',
      'Context.\n\ntext 15',
      'text 16',
      'text 17',
    ]);
    const scope = { kind: 'all', userId: 0 } as const;
    expect(await bench.files.listLive(scope, 'library', { degradedStage: 'contextualize' })).toHaveLength(1);
    expect(await bench.drifts()).toEqual([]);
  });

  it('waits for a silent model only so long', async () => {
    const silent: Answer = (_question, { signal }) =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    const bench = await open({ ...CONTEXT, enable_topic_tagging: true }, silent, { timeoutMs: 20 });
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(live?.degraded_stages).toEqual(['contextualize', 'topic_tag']);
  });

  it('is not asked of the built-in model, which follows no instructions', async () => {
    const bench = await open(CONTEXT, () => 'never', { builtin: true });
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect([live?.degraded_stages, bench.embedded]).toEqual([['contextualize'], ['one', 'two', 'three']]);
  });

  it('ends with its task', async () => {
    const bench = await open(CONTEXT, () => 'Context.');
    const task = await bench.admit('a', 'text');
    await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
    await bench.tasks.finish(task.task_id, 'CANCELLED');
    await expect(inActivity(() => bench.enrichDocument(refOf(task))).result).rejects.toMatchObject({
      code: 'TASK_CANCELLED',
    });
    await bench.files.releasePending(task.file_key, task.task_id);
    await bench.documents.cleanFile(task.file_key);
    expect((await bench.blobs.listByFile(task.file_key)).map(({ blobId }) => blobId)).toEqual([]);
  });
});

describe('topic tags', () => {
  it("become metadata of file and chunks, beside the client's own", async () => {
    const bench = await open(
      { enable_topic_tagging: true, max_topic_tags: 2 },
      () => '["Mills", "Flour", "mills"]',
    );
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(live?.metadata).toMatchObject({ topic_tags: ['Mills', 'Flour'] });
    const [chunk] = await wholeChunks(bench.chunks, 'key-of-a', live?.generation ?? 0);
    const tags = chunk?.metadata.filter(({ key }) => key === 'topic_tags').map(({ text }) => text);
    expect(tags).toEqual(['Mills', 'Flour']);
    expect(await bench.drifts()).toEqual([]);
  });

  it('come of the model and the words that the preset names, as contexts do', async () => {
    const bench = await open(
      {
        enable_contextualization: true,
        contextualization_mode: 'none',
        contextualization_llm: 'writer',
        contextualization_prompt_name: 'place',
        enable_topic_tagging: true,
        topic_tagging_llm: 'tagger',
        topic_tagging_prompt_name: 'topics',
      },
      (question) => (question.startsWith('Topics of') ? '["Mills"]' : 'A context.'),
      { texts: ['one'] },
    );
    await bench.prompts.create({
      prompt_type: 'chunk_contextualizer',
      name: 'place',
      content: 'Place {chunk}',
    });
    await bench.prompts.create({ prompt_type: 'topic_tagger', name: 'topics', content: 'Topics of {text}' });
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(live).toMatchObject({ degraded_stages: [], metadata: { topic_tags: ['Mills'] } });
    expect(bench.model.asked).toEqual(['Place one', 'Topics of one']);
    expect(bench.chosen).toEqual(['writer', 'tagger']);
    expect(bench.embedded).toEqual(['A context.\n\none']);
  });

  it('come of the model that contextualises where none is named', async () => {
    const config = { enable_topic_tagging: true, contextualization_llm: 'writer' };
    const bench = await open(config, () => '["Mills"]');
    await bench.index(await bench.admit('a', 'text'));
    expect(bench.chosen).toEqual(['writer']);
  });

  it('are missed where the model names none', async () => {
    const bench = await open({ enable_topic_tagging: true }, () => ' ');
    const { live } = await bench.index(await bench.admit('a', 'text'));
    expect(live).toMatchObject({ degraded_stages: ['topic_tag'] });
    expect(live?.metadata).not.toHaveProperty('topic_tags');
  });

  it.each([
    ['["a", "b"]', ['a', 'b']],
    ['["a\\ud83d", "b\\u0000c"]', ['a', 'b c']],
    ['Here they are: ["a", 1, "b"] as asked', ['a', 'b']],
    ['Topics:\n- a\n2. b\n* A', ['a', 'b']],
    ['["a", "b', []],
    [`["${'x'.repeat(81)}"]`, []],
    ['[]', []],
  ])('are read from %j', (reply, tags) => {
    expect(readTags(reply, 7)).toEqual(tags);
  });
});
