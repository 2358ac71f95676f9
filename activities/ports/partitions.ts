/** Partitions and what groups their files; see `adapters.ts` for the rules that hold for all ports. */
import type { PartitionPatch, PartitionRecord, WorkspaceRecord } from '../../schemas/documents/partitions.js';
import type { Membership, Role, Scope } from '../../schemas/documents/users.js';

/** Settings of a partition that name another record. */
export type NamingSetting =
  | 'embedder'
  | 'swap.target'
  | 'chat_llm'
  | 'indexation_preset'
  | 'retrieval_preset'
  | 'generation_prompt_names.sys_prompt'
  | 'generation_prompt_names.spoken_style_answer';

export interface PartitionStore {
  /**
   * Creates the partition with its owner.
   * @throws AppError PARTITION_EXISTS; CONFLICT while one of the name is being deleted
   */
  create(input: { partition: string; embedder: string; ownerId: number }): Promise<PartitionRecord>;
  get(partition: string): Promise<PartitionRecord | null>;
  /**
   * Partitions inside the scope, by name.
   * @param names those alone
   */
  list(scope: Scope, names?: readonly string[]): Promise<PartitionRecord[]>;
  /**
   * One update; null when the partition is missing, or is not on the embedder that the change is to start from. An
   * embedder that is set so, and not by a swap, ends what is known of swaps before.
   */
  update(
    partition: string,
    patch: PartitionPatch,
    guard?: { embedder: string },
  ): Promise<PartitionRecord | null>;
  /**
   * Marks a swap as at work, in place of one that is not any more. Null when the partition is another one by now, or on
   * another embedder. Repeating it is harmless.
   */
  beginSwap(
    place: Pick<PartitionRecord, 'partition' | 'partition_key'>,
    swap: { swap_id: string; source: string; target: string },
  ): Promise<PartitionRecord | null>;
  /**
   * Ends a swap, in one update with the embedder when it is made: searches, uploads and the mark change together. False
   * when this swap is not at work (any more).
   */
  endSwap(partition: string, swapId: string, options: { switched: boolean }): Promise<boolean>;
  /** Every partition whose setting has this name takes the other one. */
  renameReference(setting: NamingSetting, from: string, to: string): Promise<void>;
  memberships(userId: number): Promise<Membership[]>;
  /** Members of a partition, by number. */
  members(partition: string): Promise<Membership[]>;
  /** @throws AppError MEMBERSHIP_EXISTS, PARTITION_NOT_FOUND */
  addMember(partition: string, userId: number, role: Role): Promise<void>;
  /** @throws AppError MEMBERSHIP_NOT_FOUND, or LAST_OWNER when the partition would be left without an owner */
  setRole(partition: string, userId: number, role: Role): Promise<void>;
  /** @throws AppError MEMBERSHIP_NOT_FOUND, LAST_OWNER */
  removeMember(partition: string, userId: number): Promise<void>;
  /** Takes a deleted user out of every partition, also where it is the last owner. */
  removeUser(userId: number): Promise<void>;
  roleOf(userId: number, partition: string): Promise<Role | null>;
  /**
   * From now on no other method finds the partition; its name stays taken until `removeDeleted`. Null when there is
   * none.
   * @param partitionKey of which partition of that name
   */
  markDeleted(partition: string, partitionKey?: string): Promise<PartitionRecord | null>;
  listDeleted(): Promise<PartitionRecord[]>;
  /** Frees the name. */
  removeDeleted(deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>): Promise<void>;
}

export interface WorkspaceStore {
  /** @throws AppError WORKSPACE_EXISTS for an id in use in this partition */
  create(workspace: {
    workspace_key: string;
    workspace_id: string;
    partition: string;
    display_name: string | null;
    created_by: number;
  }): Promise<WorkspaceRecord>;
  /** Null for one that is being deleted. */
  get(partition: string, workspaceId: string): Promise<WorkspaceRecord | null>;
  /** Those of an id in any of some partitions. */
  find(partitions: readonly string[], workspaceId: string): Promise<WorkspaceRecord[]>;
  /** By surrogate key; those being deleted are missing in the map. */
  getMany(workspaceKeys: readonly string[]): Promise<Map<string, WorkspaceRecord>>;
  /** Workspaces of a partition, by id. */
  list(scope: Scope, partition: string): Promise<WorkspaceRecord[]>;
  /** Frees the id in one update and leaves a mark for the clean-up. Answers the record; null when there is none. */
  markDeleted(
    partition: string,
    workspaceId: string,
    options: { keepFiles: boolean },
  ): Promise<WorkspaceRecord | null>;
  /** Marked, and not yet removed; those marked before a point in time. */
  listDeleted(before: Date, limit: number): Promise<WorkspaceRecord[]>;
  /** Removes a marked workspace for good. */
  remove(workspaceKey: string): Promise<void>;
  /** Removes workspaces whose partition is gone, and their files with it, without a mark before. */
  removeMany(workspaceKeys: readonly string[]): Promise<void>;
  /** Leaves the workspaces of a deleted user without a creator. */
  forgetCreator(userId: number): Promise<void>;
}
