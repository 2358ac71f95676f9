import { randomUUID } from 'node:crypto';
import type { Db, Filter } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import { PARTITION_DEFAULTS } from '../../../../schemas/documents/partitions.js';
import { DEFAULT_ALIAS } from '../../../../schemas/models/endpoint-names.js';
import type { PartitionPatch, PartitionRecord } from '../../../../schemas/documents/partitions.js';
import type { Membership, Role } from '../../../../schemas/documents/users.js';
import type { PartitionStore } from '../../../ports/partitions.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

interface MemberDocument {
  user_id: number;
  role: Role;
  added_at: Date;
}

/**
 * A partition and its members are one document, so that neither a partition without an owner nor a membership
 * of a partition that another user created meanwhile can ever be left behind. Settings that were never chosen are
 * absent in documents of earlier releases.
 */
interface PartitionDocument extends Omit<PartitionPatch, 'embedder'> {
  _id: string;
  /** Absent in records of before there were keys: then it is the name. */
  partition_key?: string;
  /** There only while it is being deleted. */
  deleted_at?: Date;
  /** Null or absent in records of releases up to 2.2: the default one. */
  embedder?: string | null;
  /** Absent unless one is at work. */
  swap?: { swap_id: string; target: string };
  swapped_from?: string[];
  created_by: number;
  created_at: Date;
  members: MemberDocument[];
}

/** The filter for partitions on an embedder. */
function onEmbedder(embedder: string): Filter<PartitionDocument> {
  return {
    embedder: embedder === DEFAULT_ALIAS ? { $in: [DEFAULT_ALIAS, null] } : embedder,
  };
}

/** The filter for one partition of all that had its name. */
function ofKey(partition: string, key: string): Filter<PartitionDocument> {
  return { partition_key: key === partition ? { $in: [key, null] } : key } as Filter<PartitionDocument>;
}

/** Replaced embedders that a partition keeps in mind: a task of one before is older than any task gets. */
const SWAPS_KNOWN = 20;

/** What is being deleted is not there any more, for every reader. */
const PRESENT = { deleted_at: { $exists: false } } as const;
const WITHOUT_MEMBERS = { projection: { members: 0 } } as const;

function ONE_MEMBER(userId: number) {
  return { projection: { members: { $elemMatch: { user_id: userId } } } };
}

function toRecord({ _id, ...rest }: Omit<PartitionDocument, 'members'>): PartitionRecord {
  return {
    partition: _id,
    partition_key: rest.partition_key ?? _id,
    description: rest.description ?? PARTITION_DEFAULTS.description,
    embedder: rest.embedder ?? DEFAULT_ALIAS,
    swap: rest.swap ?? null,
    swapped_from: rest.swapped_from ?? [],
    indexation_preset: rest.indexation_preset ?? PARTITION_DEFAULTS.indexation_preset,
    retrieval_preset: rest.retrieval_preset ?? PARTITION_DEFAULTS.retrieval_preset,
    chat_history_depth: rest.chat_history_depth ?? PARTITION_DEFAULTS.chat_history_depth,
    chat_llm: rest.chat_llm ?? PARTITION_DEFAULTS.chat_llm,
    generation_prompt_names: rest.generation_prompt_names ?? PARTITION_DEFAULTS.generation_prompt_names,
    created_by: rest.created_by,
    created_at: rest.created_at,
  };
}

/** A member who is no owner, or one beside whom there is another owner: who may step down or leave. */
function replaceable(userId: number): Filter<PartitionDocument> {
  return {
    $or: [
      { members: { $elemMatch: { user_id: userId, role: { $ne: 'owner' } } } },
      {
        $and: [
          { members: { $elemMatch: { user_id: userId } } },
          { members: { $elemMatch: { user_id: { $ne: userId }, role: 'owner' } } },
        ],
      },
    ],
  };
}

/** Partitions and memberships in collection `partitions`. */
export function createMongoPartitionStore(db: Db): PartitionStore {
  const partitions = db.collection<PartitionDocument>('partitions');

  const roleOf = async (userId: number, partition: string): Promise<Role | null> => {
    const document = await partitions.findOne(
      { _id: partition, 'members.user_id': userId, ...PRESENT },
      ONE_MEMBER(userId),
    );
    return document?.members.find((member) => member.user_id === userId)?.role ?? null;
  };

  const whyNot = async (partition: string, userId: number): Promise<AppError> =>
    new AppError((await roleOf(userId, partition)) === null ? 'MEMBERSHIP_NOT_FOUND' : 'LAST_OWNER');

  return withMongoErrors<PartitionStore>({
    async create({ partition, embedder, ownerId }) {
      const now = new Date();
      const document: PartitionDocument = {
        ...PARTITION_DEFAULTS,
        _id: partition,
        partition_key: randomUUID(),
        embedder,
        created_by: ownerId,
        created_at: now,
        members: [{ user_id: ownerId, role: 'owner', added_at: now }],
      };
      try {
        await partitions.insertOne(document);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        if ((await partitions.countDocuments({ _id: partition, ...PRESENT }, { limit: 1 })) === 0)
          throw new AppError('CONFLICT', 'The partition is being deleted; try again.');
        throw new AppError('PARTITION_EXISTS', undefined, { details: { partition } });
      }
      return toRecord(document);
    },
    async get(partition) {
      const document = await partitions.findOne({ _id: partition, ...PRESENT }, WITHOUT_MEMBERS);
      return document && toRecord(document);
    },
    async list(scope, names) {
      const visible =
        scope.kind === 'all'
          ? names
          : (names?.filter((name) => Object.hasOwn(scope.roles, name)) ?? Object.keys(scope.roles));
      const filter = visible === undefined ? {} : { _id: { $in: [...visible] } };
      const documents = await partitions
        .find({ ...filter, ...PRESENT }, WITHOUT_MEMBERS)
        .sort({ _id: 1 })
        .toArray();
      return documents.map(toRecord);
    },
    async update(partition, patch, guard) {
      const document = await partitions.findOneAndUpdate(
        { _id: partition, ...PRESENT, ...(guard && onEmbedder(guard.embedder)) },
        { $set: { ...patch, ...(patch.embedder !== undefined && { swapped_from: [] }) } },
        { returnDocument: 'after', ...WITHOUT_MEMBERS },
      );
      return document && toRecord(document);
    },
    async beginSwap({ partition, partition_key: key }, { swap_id, source, target }) {
      const document = await partitions.findOneAndUpdate(
        { _id: partition, ...ofKey(partition, key), ...onEmbedder(source), ...PRESENT },
        { $set: { swap: { swap_id, target } } },
        { returnDocument: 'after', ...WITHOUT_MEMBERS },
      );
      return document && toRecord(document);
    },
    async endSwap(partition, swapId, { switched }) {
      const mine = { _id: partition, 'swap.swap_id': swapId };
      for (;;) {
        const document = await partitions.findOne(mine, WITHOUT_MEMBERS);
        if (document?.swap === undefined) return false;
        const { swap, embedder, swapped_from: replaced = [] } = document;
        // Either may be renamed meanwhile.
        const { matchedCount } = await partitions.updateOne(
          { ...mine, 'swap.target': swap.target, embedder: embedder ?? null },
          {
            $unset: { swap: '' },
            ...(switched && {
              $set: {
                embedder: swap.target,
                swapped_from: [...replaced, embedder ?? DEFAULT_ALIAS].slice(-SWAPS_KNOWN),
              },
            }),
          },
        );
        if (matchedCount === 1) return true;
      }
    },
    async renameReference(setting, from, to) {
      const named = setting === 'embedder' ? onEmbedder(from) : { [setting]: from };
      await partitions.updateMany(named, { $set: { [setting]: to } });
    },
    async memberships(userId) {
      const documents = await partitions
        .find({ 'members.user_id': userId, ...PRESENT }, ONE_MEMBER(userId))
        .sort({ _id: 1 })
        .toArray();
      // Filtered again: the projection only keeps other members off the wire.
      return documents.flatMap(({ _id, members }) =>
        members
          .filter((member) => member.user_id === userId)
          .map(({ role, added_at }) => ({ user_id: userId, partition: _id, role, added_at })),
      );
    },
    async members(partition) {
      const document = await partitions.findOne({ _id: partition, ...PRESENT });
      return (document?.members ?? [])
        .map((member): Membership => ({ ...member, partition }))
        .sort((a, b) => a.user_id - b.user_id);
    },
    async addMember(partition, userId, role) {
      const { matchedCount } = await partitions.updateOne(
        { _id: partition, ...PRESENT, 'members.user_id': { $ne: userId } },
        { $push: { members: { user_id: userId, role, added_at: new Date() } } },
      );
      if (matchedCount === 1) return;
      const missing = (await partitions.findOne({ _id: partition, ...PRESENT }, WITHOUT_MEMBERS)) === null;
      throw new AppError(missing ? 'PARTITION_NOT_FOUND' : 'MEMBERSHIP_EXISTS');
    },
    async setRole(partition, userId, role) {
      const guard = role === 'owner' ? { 'members.user_id': userId } : replaceable(userId);
      const { matchedCount } = await partitions.updateOne(
        { _id: partition, ...PRESENT, ...guard },
        { $set: { 'members.$[member].role': role } },
        { arrayFilters: [{ 'member.user_id': userId }] },
      );
      if (matchedCount === 0) throw await whyNot(partition, userId);
    },
    async removeMember(partition, userId) {
      const { matchedCount } = await partitions.updateOne(
        { _id: partition, ...PRESENT, ...replaceable(userId) },
        { $pull: { members: { user_id: userId } } },
      );
      if (matchedCount === 0) throw await whyNot(partition, userId);
    },
    async removeUser(userId) {
      await partitions.updateMany(
        { 'members.user_id': userId, ...PRESENT },
        { $pull: { members: { user_id: userId } } },
      );
    },
    roleOf,
    async markDeleted(partition, partitionKey) {
      const document = await partitions.findOneAndUpdate(
        { _id: partition, ...(partitionKey === undefined ? {} : ofKey(partition, partitionKey)), ...PRESENT },
        { $set: { deleted_at: new Date() } },
        WITHOUT_MEMBERS,
      );
      return document && toRecord(document);
    },
    async listDeleted() {
      const documents = await partitions.find({ deleted_at: { $exists: true } }, WITHOUT_MEMBERS).toArray();
      return documents.map(toRecord);
    },
    async removeDeleted({ partition, partition_key }) {
      const key = partition_key === partition ? { $exists: false } : partition_key;
      await partitions.deleteOne({
        _id: partition,
        partition_key: key,
        deleted_at: { $exists: true },
      });
    },
  });
}
