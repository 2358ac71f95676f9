import { describe, expect, it } from '@jest/globals';
import { activityBench, inActivity, refOf } from '../../support/activity-bench.js';
import type { ActivityBench } from '../../support/activity-bench.js';
import { sampleReport } from '../../support/documents/sample-report.js';

/** A file that is live, and a copy of it that is admitted. */
async function prepare(bench: ActivityBench) {
  const source = await bench.admit('a', 'one two three');
  const { chunkCount } = await inActivity(() => bench.documents.parseDocument(refOf(source))).result;
  await inActivity(() => bench.embedding.embedDocument(refOf(source))).result;
  await inActivity(() => bench.documents.publishDocument(refOf(source), chunkCount)).result;
  return { source, copy: await bench.admitCopy('b', source) };
}

function run(bench: ActivityBench, copy: Parameters<typeof refOf>[0]) {
  return inActivity(() => bench.copying.copyVersion(refOf(copy))).result;
}

describe('copyVersion', () => {
  it.each([true, false])('takes text and vectors over, uploads being kept: %s', async (keepUploads) => {
    const bench = await activityBench(undefined, { keepUploads });
    const { source, copy } = await prepare(bench);
    const { chunkCount } = await run(bench, copy);
    expect(chunkCount).toBe(3);
    await inActivity(() => bench.documents.publishDocument(refOf(copy), chunkCount)).result;
    expect((await bench.tasks.get(copy.task_id))?.state).toBe('COMPLETED');
    const of = async ({ file_key, generation }: typeof copy) =>
      (await bench.chunks.listByFile(file_key, generation)).map(({ text, published }) => [text, published]);
    expect(await of(copy)).toEqual(await of(source));
    // What a download of the copy would ask for.
    expect((await bench.blobs.info(copy.upload.upload_id)) !== null).toBe(keepUploads);
  });

  it('lacks what its source lacks', async () => {
    const bench = await activityBench();
    const source = await bench.admit('a', 'one two three');
    const { chunkCount } = await inActivity(() => bench.documents.parseDocument(refOf(source))).result;
    await inActivity(() => bench.embedding.embedDocument(refOf(source))).result;
    await bench.tasks.noteEnrichment(source.task_id, {
      degradedStages: ['caption'],
      parseReport: sampleReport({ degraded: true }),
    });
    await inActivity(() => bench.documents.publishDocument(refOf(source), chunkCount)).result;
    const copy = await bench.admitCopy('b', source);
    await run(bench, copy);
    await inActivity(() => bench.documents.publishDocument(refOf(copy), chunkCount)).result;
    expect((await bench.files.get('library', 'b'))?.live).toMatchObject({
      degraded_stages: ['parse', 'caption'],
      parse_report: sampleReport({ degraded: true }),
    });
  });

  it('repeats without harm', async () => {
    const bench = await activityBench();
    const { copy } = await prepare(bench);
    await run(bench, copy);
    await run(bench, copy);
    expect(await bench.chunks.listByFile(copy.file_key, copy.generation)).toHaveLength(3);
  });

  it('fails when the source is gone: what it had is being removed', async () => {
    const bench = await activityBench();
    const { copy } = await prepare(bench);
    await bench.files.markDeleted('library', 'a');
    await expect(run(bench, copy)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('fails, to be tried again, when a chunk of the source is missing', async () => {
    const bench = await activityBench();
    const { source, copy } = await prepare(bench);
    await bench.chunks.deleteGenerations(source.file_key, { keep: [], upTo: source.generation });
    await expect(run(bench, copy)).rejects.toMatchObject({ code: 'VDB_ERROR' });
  });
});
