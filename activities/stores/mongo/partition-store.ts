import type { Db } from 'mongodb';
import { AppError } from '../../../schemas/app-error.js';
import type { PartitionRecord, Role } from '../../../schemas/documents.js';
import type { PartitionStore } from '../../ports.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

/**
 * A partition and its members are one document, so that neither a partition without an owner nor a membership
 * of a partition that another user created meanwhile can ever be left behind.
 */
interface PartitionDocument {
  _id: string;
  description: string | null;
  embedder: string;
  created_by: number;
  created_at: Date;
  members: { user_id: number; role: Role; added_at: Date }[];
}

const WITHOUT_MEMBERS = { projection: { members: 0 } } as const;
const ONE_MEMBER = (userId: number) => ({ projection: { members: { $elemMatch: { user_id: userId } } } });

const toRecord = (document: Omit<PartitionDocument, 'members'>): PartitionRecord => ({
  partition: document._id,
  description: document.description,
  embedder: document.embedder,
  created_by: document.created_by,
  created_at: document.created_at,
});

/** Partitions and memberships in collection `partitions`. */
export const createMongoPartitionStore = (db: Db): PartitionStore => {
  const partitions = db.collection<PartitionDocument>('partitions');
  return withMongoErrors<PartitionStore>({
    async create({ partition, embedder, ownerId }) {
      const now = new Date();
      const document: PartitionDocument = {
        _id: partition,
        description: null,
        embedder,
        created_by: ownerId,
        created_at: now,
        members: [{ user_id: ownerId, role: 'owner', added_at: now }],
      };
      try {
        await partitions.insertOne(document);
      } catch (error) {
        if (isDuplicateKey(error))
          throw new AppError('PARTITION_EXISTS', undefined, { details: { partition } });
        throw error;
      }
      return toRecord(document);
    },
    async get(partition) {
      const document = await partitions.findOne({ _id: partition }, WITHOUT_MEMBERS);
      return document && toRecord(document);
    },
    async list(scope) {
      const filter = scope.kind === 'all' ? {} : { _id: { $in: Object.keys(scope.roles) } };
      const documents = await partitions.find(filter, WITHOUT_MEMBERS).sort({ _id: 1 }).toArray();
      return documents.map(toRecord);
    },
    async memberships(userId) {
      const documents = await partitions
        .find({ 'members.user_id': userId }, ONE_MEMBER(userId))
        .sort({ _id: 1 })
        .toArray();
      // Filtered again: the projection only keeps other members off the wire.
      return documents.flatMap(({ _id, members }) =>
        members
          .filter((member) => member.user_id === userId)
          .map(({ role, added_at }) => ({ user_id: userId, partition: _id, role, added_at })),
      );
    },
    async roleOf(userId, partition) {
      const document = await partitions.findOne(
        { _id: partition, 'members.user_id': userId },
        ONE_MEMBER(userId),
      );
      return document?.members.find((member) => member.user_id === userId)?.role ?? null;
    },
  });
};
