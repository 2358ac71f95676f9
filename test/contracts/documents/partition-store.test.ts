import { createMongoPartitionStore } from '../../../activities/stores/mongo/documents/partition-store.js';
import { createFakePartitionStore } from '../../support/fakes/documents/fake-partition-store.js';
import { fake, mongo } from '../subject.js';
import {
  partitionStoreContract,
  partitionAdministrationContract,
  partitionReferenceContract,
} from './partition-store.contract.js';

for (const subject of [fake(createFakePartitionStore), ...mongo(createMongoPartitionStore)]) {
  partitionStoreContract(subject);
  partitionAdministrationContract(subject);
  partitionReferenceContract(subject);
}
