import { randomUUID } from 'node:crypto';
import { AppError } from '../../schemas/app-error.js';
import { createPartition } from '../documents/commands/create-partition.js';
import { updatePartition } from '../documents/commands/update-partition.js';
import type { Adapters } from '../ports/adapters.js';
import type { SourcePartition, SourceReader } from './read-source.js';

export interface PartitionOrder {
  reader: SourceReader;
  /** Which of our users each of the source's became. */
  users: Readonly<Record<string, number>>;
  /** The number of the administrator who imports. */
  userId: number;
  dryRun: boolean;
}

/** Makes a partition with its settings, members and workspaces, as far as they are not here yet. */
export async function importPartition(
  adapters: Adapters,
  given: SourcePartition,
  order: PartitionOrder,
): Promise<Record<string, number>> {
  const { partition } = given;
  const present = await adapters.partitions.get(partition);
  const counts: Record<string, number> = present === null ? { partitions: 1 } : { partitions_known: 1 };
  if (present === null && !order.dryRun) {
    // However many the administrator owns: the bound is for what users make.
    const deps = { ...adapters, maxPartitionsPerUser: Number.MAX_SAFE_INTEGER };
    await createPartition(deps, { partition, userId: order.userId });
  }
  // Whatever is set here later is meant to stay, and so is who was let in or taken out; a run that broke off in between
  // left no file yet.
  const isEmpty = present === null || !(await hasFiles(adapters, partition));
  if (isEmpty && !order.dryRun) counts['settings_left'] = await applySettings(adapters, given);
  counts['members'] = isEmpty ? await addMembers(adapters, partition, order) : 0;
  counts['workspaces'] = await makeWorkspaces(adapters, partition, order);
  return counts;
}

async function hasFiles({ files }: Adapters, partition: string): Promise<boolean> {
  return (
    ((await files.countLive([partition])).get(partition) ?? 0) > 0 ||
    (await files.countPending(partition)) > 0
  );
}

/** One by one: what names something that is not registered here is left as it is. Answers how many were left. */
async function applySettings(adapters: Adapters, given: SourcePartition): Promise<number> {
  const { description, embedder, indexation_preset, retrieval_preset, chat_history_depth, chat_llm } = given;
  const wanted = { description, embedder, indexation_preset, retrieval_preset, chat_history_depth, chat_llm };
  let left = 0;
  for (const [name, value] of Object.entries(wanted)) {
    if (value === null || value === undefined) continue;
    try {
      await updatePartition(adapters, given.partition, { [name]: value });
    } catch (error) {
      if (!(error instanceof AppError) || error.retryable) throw error;
      left += 1;
    }
  }
  return left;
}

async function addMembers(
  { partitions, users }: Adapters,
  partition: string,
  { reader, users: mapped, dryRun }: PartitionOrder,
): Promise<number> {
  let added = 0;
  for (const { user_id: theirs, role } of (await reader.members(partition)) ?? []) {
    const ours = mapped[theirs];
    const isMember = ours !== undefined && (await partitions.roleOf(ours, partition)) !== null;
    if (isMember || (ours === undefined && !dryRun)) continue;
    added += 1;
    if (dryRun || ours === undefined || (await users.get(ours)) === null) continue;
    await partitions.addMember(partition, ours, role).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'MEMBERSHIP_EXISTS') throw error;
    });
  }
  return added;
}

async function makeWorkspaces(
  { workspaces }: Adapters,
  partition: string,
  { reader, users, userId, dryRun }: PartitionOrder,
): Promise<number> {
  let made = 0;
  for (const { workspace_id, display_name, created_by: theirs } of await reader.workspaces(partition)) {
    if ((await workspaces.get(partition, workspace_id)) !== null) continue;
    made += 1;
    if (dryRun) continue;
    const created_by = (theirs == null ? undefined : users[theirs]) ?? userId;
    await workspaces
      .create({ workspace_key: randomUUID(), workspace_id, partition, display_name, created_by })
      .catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'WORKSPACE_EXISTS') throw error;
      });
  }
  return made;
}

/**
 * Puts the files of the source's workspaces into ours. They are put in as files that were there before: they outlive a
 * workspace, since the source does not tell which of them live by it. Answers how many are being indexed still.
 */
export async function fillWorkspaces(
  { files, workspaces }: Adapters,
  partition: string,
  reader: SourceReader,
): Promise<number> {
  let waiting = 0;
  for (const { workspace_id: id } of await reader.workspaces(partition)) {
    const workspace = await workspaces.get(partition, id);
    if (workspace === null) continue;
    for (const fileId of await reader.workspaceFiles(partition, id)) {
      const file = await files.get(partition, fileId);
      if (file === null) continue;
      if (file.live !== null) {
        if (!file.workspaces.includes(workspace.workspace_key))
          await files.attachWorkspace(file, workspace.workspace_key);
      } else if (file.pending_task !== null) waiting += 1;
    }
  }
  return waiting;
}
