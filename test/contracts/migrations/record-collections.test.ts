import type { Db } from 'mongodb';
import { createMongoRecordCollections } from '../../../activities/stores/mongo/migrations/record-collections.js';
import { createFakeRecordCollections } from '../../support/fakes/migrations/fake-record-collections.js';
import { fake, mongo } from '../subject.js';
import { recordCollectionsContract } from './record-collections.contract.js';
import type { OpenCollections, Planted } from './record-collections.contract.js';

function onMongo(db: Db): OpenCollections {
  return {
    ...createMongoRecordCollections(db),
    async plant(collection, documents) {
      await db.collection<Planted>(collection).insertMany([...documents]);
    },
    read: (collection) => db.collection<Planted>(collection).find({}).sort({ _id: 1 }).toArray(),
  };
}

for (const subject of [fake(createFakeRecordCollections), ...mongo(onMongo)])
  recordCollectionsContract(subject);
