import { describe, expect, it } from '@jest/globals';
import { finishPartitionDeletion } from '../../../../activities/documents/clean-up/finish-partition-deletion.js';
import { activityBench, inActivity, refOf } from '../../../support/activity-bench.js';
import type { ActivityBench } from '../../../support/activity-bench.js';

/** A minute later than the marks were made. */
function laterBench() {
  return activityBench(undefined, { now: () => new Date(Date.now() + 60_000) });
}

function sweep(bench: ActivityBench) {
  return inActivity(() => bench.sweep.findDirtyFiles()).result;
}

/** A live file that was uploaded into a workspace. */
async function fileIn(bench: ActivityBench, fileId: string, workspaceKey: string) {
  const task = await bench.admit(fileId, fileId);
  const ref = refOf(task);
  const { chunkCount } = await inActivity(() => bench.documents.parseDocument(ref)).result;
  await inActivity(() => bench.embedding.embedDocument(ref)).result;
  await inActivity(() => bench.documents.publishDocument(ref, chunkCount)).result;
  await bench.files.attachWorkspace(task, workspaceKey);
  return task.file_key;
}

function workspace(bench: ActivityBench, workspace_key: string) {
  return bench.workspaces.create({
    workspace_key,
    workspace_id: workspace_key,
    partition: 'library',
    display_name: null,
    created_by: 5,
  });
}

function user(bench: ActivityBench, user_id: number) {
  return bench.users.create({
    user_id,
    display_name: null,
    external_user_id: null,
    email: null,
    is_admin: false,
    file_quota: null,
    token_digest: null,
  });
}

async function markedUsers(bench: ActivityBench) {
  return (await bench.users.listDeleted(10)).map(({ user_id }) => user_id);
}

describe('deletions that a crash cut short', () => {
  it('of a workspace: its files are let go and its mark goes', async () => {
    const bench = await laterBench();
    await workspace(bench, 'w');
    const free = await fileIn(bench, 'free', 'w');
    await bench.workspaces.markDeleted('library', 'w', { keepFiles: false });
    await sweep(bench);
    expect((await bench.files.getMany([free])).get(free)).toMatchObject({ workspaces: [], deleted_at: null });
    const later = new Date(Date.now() + 60_000);
    expect(await bench.workspaces.listDeleted(later, 10)).toEqual([]);
  });

  it('of a workspace: what lived by it becomes a tombstone that this very sweep cleans up', async () => {
    const bench = await laterBench();
    await workspace(bench, 'w');
    const key = 'key-of-own';
    await bench.files.admitFirst({
      fileKey: key,
      partition: 'library',
      partitionKey: 'library',
      fileId: 'own',
      userId: 5,
      taskId: 't',
      generation: 50,
      workspaces: ['w'],
    });
    await bench.workspaces.markDeleted('library', 'w', { keepFiles: false });
    expect(await sweep(bench)).toContain(key);
    expect((await bench.files.getMany([key])).get(key)?.deleted_at).toBeInstanceOf(Date);
  });

  it('of a user: what it left behind is removed, and the mark goes', async () => {
    const bench = await laterBench();
    await user(bench, 5);
    await bench.partitions.addMember('library', 5, 'editor');
    await workspace(bench, 'w');
    await bench.users.markDeleted(5);
    await sweep(bench);
    expect(await bench.partitions.memberships(5)).toEqual([]);
    expect(await bench.workspaces.get('library', 'w')).toMatchObject({ created_by: null });
    expect(await markedUsers(bench)).toEqual([]);
  });

  it('one that cannot go on waits, and keeps the sweep from nothing else', async () => {
    const bench = await laterBench();
    for (const id of [5, 6]) await user(bench, id);
    await bench.partitions.create({ partition: 'own', embedder: 'builtin-hash', ownerId: 5 });
    for (const id of [5, 6]) await bench.users.markDeleted(id);
    const { markDeleted } = bench.partitions;
    bench.partitions.markDeleted = () => Promise.reject(new Error('away'));
    await sweep(bench);
    expect(await markedUsers(bench)).toEqual([5]);
    expect(await bench.partitions.roleOf(5, 'own')).toBe('owner');
    bench.partitions.markDeleted = markDeleted;
    await sweep(bench);
    expect(await markedUsers(bench)).toEqual([]);
    expect(await bench.partitions.get('own')).toBeNull();
    expect(await bench.partitions.listDeleted()).toEqual([]);
  });

  it('of a user whose uploads ran: their tasks end with the partition', async () => {
    const bench = await laterBench();
    await user(bench, 1);
    const task = await bench.admit('guide', 'text');
    await bench.users.markDeleted(1);
    await sweep(bench);
    expect(await bench.tasks.get(task.task_id)).toMatchObject({
      state: 'CANCELLED',
      error: { code: 'TASK_CANCELLED' },
    });
    expect(await bench.partitions.get('library')).toBeNull();
  });

  it('of both owners of a partition at once: it goes with them, and is not left to nobody', async () => {
    const bench = await laterBench();
    for (const id of [5, 6]) await user(bench, id);
    await bench.partitions.create({ partition: 'ours', embedder: 'builtin-hash', ownerId: 5 });
    await bench.partitions.addMember('ours', 6, 'owner');
    for (const id of [5, 6]) await bench.users.markDeleted(id);
    await sweep(bench);
    expect(await markedUsers(bench)).toEqual([]);
    expect(await bench.partitions.get('ours')).toBeNull();
  });

  it('of a user whose partition has another owner: that one keeps it', async () => {
    const bench = await laterBench();
    for (const id of [5, 6]) await user(bench, id);
    await bench.partitions.create({ partition: 'ours', embedder: 'builtin-hash', ownerId: 5 });
    await bench.partitions.addMember('ours', 6, 'owner');
    await bench.users.markDeleted(5);
    await sweep(bench);
    expect(await bench.partitions.members('ours')).toMatchObject([{ user_id: 6, role: 'owner' }]);
  });

  it('of a user who alone owns `default`: the first admin owns it then', async () => {
    const bench = await laterBench();
    await user(bench, 5);
    await bench.partitions.create({ partition: 'default', embedder: 'builtin-hash', ownerId: 5 });
    await bench.users.markDeleted(5);
    await sweep(bench);
    expect(await markedUsers(bench)).toEqual([]);
    expect(await bench.partitions.members('default')).toMatchObject([{ user_id: 1, role: 'owner' }]);
  });

  it('of a partition: its workspaces go with it, and those of its successor stay', async () => {
    const bench = await laterBench();
    await workspace(bench, 'w');
    const deleted = await bench.partitions.markDeleted('library');
    await sweep(bench);
    expect(await bench.workspaces.get('library', 'w')).toBeNull();
    await bench.partitions.create({ partition: 'library', embedder: 'builtin-hash', ownerId: 1 });
    await workspace(bench, 'w');
    await finishPartitionDeletion(bench, deleted!);
    expect(await bench.workspaces.get('library', 'w')).not.toBeNull();
    expect(await bench.partitions.get('library')).not.toBeNull();
  });
});
