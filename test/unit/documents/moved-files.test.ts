import { beforeEach, describe, expect, it } from '@jest/globals';
import { patchFile } from '../../../activities/documents/commands/patch-file.js';
import { seededPresets } from '../../../activities/models/seeds/seeded-presets.js';
import type { ParseRequest } from '../../../activities/documents/parsing/parser-pool.js';
import { parseConfig } from '../../../schemas/config/config.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { activityBench, inActivity, refOf, scriptedParser } from '../../support/activity-bench.js';
import type { ActivityBench } from '../../support/activity-bench.js';
import { createFakeWorkflows } from '../../api/support/fake-workflows.js';

const OTHER = 'builtin-other';

let bench: ActivityBench;
let asked: ParseRequest['chunking'][];
/** Admitted in `library`, and moved to `archive` while it waits for its turn. */
let task: TaskRecord;

beforeEach(async () => {
  asked = [];
  const parser = scriptedParser(['one', 'two', 'three']);
  bench = await activityBench({
    parseAndChunk: (request) => {
      asked.push(request.chunking);
      return parser.parseAndChunk(request);
    },
  });
  for (const preset of seededPresets(parseConfig({}))) await bench.presets.seed(preset);
  const own = (await bench.endpoints.get('embedder', 'builtin-hash'))!;
  await bench.endpoints.create({ ...own, name: OTHER, vector_field: 'vector_other' });
  const to = await bench.partitions.create({ partition: 'archive', embedder: 'builtin-hash', ownerId: 1 });
  task = await bench.admit('guide', 'text');
  const workflows = createFakeWorkflows().starter;
  const deps = { ...bench, deduplicate: true, workflows, log: { warn: () => undefined } };
  await patchFile(deps, { partition: 'library', fileId: 'guide', metadata: {}, to });
});

/** All steps of the plan; how many chunks have a vector by which the file's own embedder finds them. */
async function index(): Promise<number> {
  const ref = refOf(task);
  const { chunkCount } = await inActivity(() => bench.documents.parseDocument(ref)).result;
  await inActivity(() => bench.embedding.embedDocument(ref)).result;
  await inActivity(() => bench.documents.publishDocument(ref, chunkCount)).result;
  const live = (await bench.files.get('archive', 'guide'))!.live!;
  const { vectorField } = await bench.models.embedder(live.embedder);
  const ids = (await bench.chunks.listByFile(task.file_key, live.generation)).map(({ chunk_id: id }) => id);
  expect(ids).toHaveLength(3);
  return (await bench.chunks.getVectors(ids, vectorField)).size;
}

describe('a file that is moved while it waits', () => {
  it('gets the vectors of where it is, when the partition that it left is swapped to another embedder', async () => {
    const place = (await bench.partitions.get('library'))!;
    await bench.partitions.beginSwap(place, { swap_id: 's', source: 'builtin-hash', target: OTHER });
    await bench.partitions.endSwap('library', 's', { switched: true });
    expect(await index()).toBe(3);
  });

  it('is indexed when the partition that it left, empty now, gets another embedder', async () => {
    await bench.partitions.update('library', { embedder: OTHER });
    expect(await index()).toBe(3);
  });

  it('is read by the preset of where it is, and by none of a partition that has the former name', async () => {
    await bench.partitions.update('library', { indexation_preset: 'legal' });
    expect(await index()).toBe(3);
    expect(asked).toEqual([{ chunkSize: 512, overlapRate: 0.2, strategy: 'recursive_splitter' }]);
  });
});
