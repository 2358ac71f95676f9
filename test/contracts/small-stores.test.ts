import { createMongoCounterStore } from '../../activities/stores/mongo/counter-store.js';
import { createMongoModelEndpointStore } from '../../activities/stores/mongo/models/model-endpoint-store.js';
import { createMongoPartitionStore } from '../../activities/stores/mongo/documents/partition-store.js';
import { createMongoUserStore } from '../../activities/stores/mongo/documents/user-store.js';
import { createFakeCounterStore } from '../support/fakes/fake-counter-store.js';
import { createFakeModelEndpointStore } from '../support/fakes/models/fake-model-endpoint-store.js';
import { createFakePartitionStore } from '../support/fakes/documents/fake-partition-store.js';
import { createFakeUserStore } from '../support/fakes/documents/fake-user-store.js';
import {
  counterStoreContract,
  modelEndpointStoreContract,
  partitionStoreContract,
  userStoreContract,
} from './small-stores.contract.js';
import { fake, mongo } from './subject.js';

for (const subject of [fake(createFakeCounterStore), ...mongo(createMongoCounterStore)])
  counterStoreContract(subject);
for (const subject of [fake(createFakeUserStore), ...mongo(createMongoUserStore)]) userStoreContract(subject);
for (const subject of [fake(createFakePartitionStore), ...mongo(createMongoPartitionStore)])
  partitionStoreContract(subject);
for (const subject of [fake(createFakeModelEndpointStore), ...mongo(createMongoModelEndpointStore)])
  modelEndpointStoreContract(subject);
