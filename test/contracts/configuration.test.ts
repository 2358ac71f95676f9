import { createMongoModelEndpointStore } from '../../activities/stores/mongo/models/model-endpoint-store.js';
import { createMongoPartitionStore } from '../../activities/stores/mongo/documents/partition-store.js';
import { createMongoPresetStore } from '../../activities/stores/mongo/models/preset-store.js';
import { createMongoPromptStore } from '../../activities/stores/mongo/models/prompt-store.js';
import { createFakeModelEndpointStore } from '../support/fakes/models/fake-model-endpoint-store.js';
import { createFakePartitionStore } from '../support/fakes/documents/fake-partition-store.js';
import { createFakePresetStore } from '../support/fakes/models/fake-preset-store.js';
import { createFakePromptStore } from '../support/fakes/models/fake-prompt-store.js';
import {
  endpointAdministrationContract,
  partitionReferenceContract,
  presetAdministrationContract,
  promptStoreContract,
} from './configuration.contract.js';
import { fake, mongo } from './subject.js';

for (const subject of [fake(createFakeModelEndpointStore), ...mongo(createMongoModelEndpointStore)])
  endpointAdministrationContract(subject);
for (const subject of [fake(createFakePresetStore), ...mongo(createMongoPresetStore)])
  presetAdministrationContract(subject);
for (const subject of [fake(createFakePromptStore), ...mongo(createMongoPromptStore)])
  promptStoreContract(subject);
for (const subject of [fake(createFakePartitionStore), ...mongo(createMongoPartitionStore)])
  partitionReferenceContract(subject);
