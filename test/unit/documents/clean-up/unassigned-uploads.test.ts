import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { checkStores } from '../../../../activities/documents/clean-up/check-stores.js';
import { cleanFileRecord } from '../../../../activities/documents/clean-up/clean-file-record.js';
import { admitUpload } from '../../../../activities/documents/commands/admit-upload.js';
import { newFileKey } from '../../../../activities/documents/commands/admit-task.js';
import type { TaskRecord } from '../../../../schemas/documents/tasks.js';
import { createFakeWorkflows } from '../../../api/support/fake-workflows.js';
import { activityBench, inActivity, refOf } from '../../../support/activity-bench.js';
import type { ActivityBench } from '../../../support/activity-bench.js';

/** A gateway: `assign` is what it does between the admission of a replacement and its start. */
async function upload(
  bench: ActivityBench,
  text: string,
  { assign = bench.blobs.assign }: { assign?: ActivityBench['blobs']['assign'] } = {},
) {
  const workflows = createFakeWorkflows();
  const foreseen = { fileKey: newFileKey(), generation: await bench.counters.nextGeneration() };
  const blobId = `upload-${foreseen.generation}`;
  const { size, sha256 } = await bench.blobs.write(
    { blobId, kind: 'upload', taskId: blobId, ...foreseen },
    Readable.from([Buffer.from(text)]),
  );
  const { partition_key: partitionKey } = (await bench.partitions.get('library'))!;
  const admitting = admitUpload(
    {
      ...bench,
      blobs: { ...bench.blobs, assign },
      workflows: workflows.starter,
      log: { warn: () => undefined },
      deduplicate: true,
      defaultFileQuota: -1,
      maxRunningTasksPerUser: 4,
    },
    {
      intent: 'replace',
      partition: 'library',
      partitionKey,
      fileId: 'one',
      userId: 1,
      upload: {
        upload_id: blobId,
        filename: 'one.txt',
        original_filename: 'one.txt',
        mimetype: 'text/plain',
        size_bytes: size,
        content_sha256: sha256,
      },
      metadata: {},
      relationshipId: null,
      parentId: null,
      embedder: 'builtin-hash',
      workspaces: [],
      foreseen,
      taskUrl: (taskId) => taskId,
    },
  );
  return { blobId, admitting, workflows };
}

/** Resolves once the replacement is admitted by a gateway that dies then. */
async function admittedByDying(bench: ActivityBench, text: string): Promise<string> {
  let died = (): void => undefined;
  const dead = new Promise<void>((resolve) => (died = resolve));
  const { blobId } = await upload(bench, text, {
    assign: () => {
      died();
      return new Promise(() => undefined);
    },
  });
  await dead;
  return blobId;
}

async function index(bench: ActivityBench, task: TaskRecord): Promise<void> {
  const { chunkCount } = await inActivity(() => bench.documents.parseDocument(refOf(task))).result;
  await inActivity(() => bench.embedding.embedDocument(refOf(task))).result;
  await inActivity(() => bench.documents.publishDocument(refOf(task), chunkCount)).result;
}

async function openBench() {
  const bench = await activityBench();
  const first = await bench.admit('one', 'the first text');
  await index(bench, first);
  return { bench, fileKey: first.file_key };
}

describe('an upload whose gateway died before it said which file it is of', () => {
  it('leaves nothing when the client sends it again', async () => {
    const { bench, fileKey } = await openBench();
    await admittedByDying(bench, 'the second text');
    const { admitting } = await upload(bench, 'the second text');
    await index(bench, await admitting);
    await cleanFileRecord(bench, fileKey, { keepUploads: true });
    expect(await checkStores(bench, { deduplicate: true })).toEqual([]);
  });

  it('leaves nothing when the file is deleted', async () => {
    const { bench, fileKey } = await openBench();
    await admittedByDying(bench, 'the second text');
    await bench.files.markDeleted('library', 'one', fileKey);
    await cleanFileRecord(bench, fileKey, { keepUploads: true });
    expect(await checkStores(bench, { deduplicate: true })).toEqual([]);
  });

  it('is indexed by the sweep otherwise', async () => {
    const { bench, fileKey } = await openBench();
    const blobId = await admittedByDying(bench, 'the second text');
    await inActivity(() => bench.sweep.findUnstarted()).result;
    expect(await bench.blobs.info(blobId)).toMatchObject({ fileKey });
  });
});

it('an upload that cannot be assigned to its file is started by who does that first', async () => {
  const { bench, fileKey } = await openBench();
  const { blobId, admitting, workflows } = await upload(bench, 'the second text', {
    assign: () => Promise.reject(new Error('the database is away')),
  });
  const { task_id: taskId } = await admitting;
  expect([workflows.started, workflows.state.dispatches]).toEqual([[], 1]);
  const { refs } = await inActivity(() => bench.sweep.nextTurns()).result;
  expect(refs).toMatchObject([{ taskId }]);
  expect(await bench.blobs.info(blobId)).toMatchObject({ fileKey });
});
