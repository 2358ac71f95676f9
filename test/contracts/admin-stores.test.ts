import { createMongoPartitionStore } from '../../activities/stores/mongo/documents/partition-store.js';
import { createMongoPresetStore } from '../../activities/stores/mongo/models/preset-store.js';
import { createMongoUserStore } from '../../activities/stores/mongo/documents/user-store.js';
import { createMongoWorkspaceStore } from '../../activities/stores/mongo/documents/workspace-store.js';
import { createFakePartitionStore } from '../support/fakes/documents/fake-partition-store.js';
import { createFakePresetStore } from '../support/fakes/models/fake-preset-store.js';
import { createFakeUserStore } from '../support/fakes/documents/fake-user-store.js';
import { createFakeWorkspaceStore } from '../support/fakes/documents/fake-workspace-store.js';
import {
  partitionAdministrationContract,
  presetStoreContract,
  userAdministrationContract,
  workspaceStoreContract,
} from './admin-stores.contract.js';
import { fake, mongo } from './subject.js';

for (const subject of [fake(createFakeUserStore), ...mongo(createMongoUserStore)])
  userAdministrationContract(subject);
for (const subject of [fake(createFakePartitionStore), ...mongo(createMongoPartitionStore)])
  partitionAdministrationContract(subject);
for (const subject of [fake(createFakeWorkspaceStore), ...mongo(createMongoWorkspaceStore)])
  workspaceStoreContract(subject);
for (const subject of [fake(createFakePresetStore), ...mongo(createMongoPresetStore)])
  presetStoreContract(subject);
