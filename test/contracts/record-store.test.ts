import { createMongoRecordStore } from '../../activities/stores/mongo/record-store.js';
import { createFakeRecordStore } from '../support/fakes/fake-record-store.js';
import { recordStoreContract } from './record-store.contract.js';
import { fake, mongo } from './subject.js';

for (const subject of [fake(createFakeRecordStore), ...mongo(createMongoRecordStore)])
  recordStoreContract(subject);
