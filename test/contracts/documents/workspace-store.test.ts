import { createMongoWorkspaceStore } from '../../../activities/stores/mongo/documents/workspace-store.js';
import { createFakeWorkspaceStore } from '../../support/fakes/documents/fake-workspace-store.js';
import { fake, mongo } from '../subject.js';
import { workspaceStoreContract } from './workspace-store.contract.js';

for (const subject of [fake(createFakeWorkspaceStore), ...mongo(createMongoWorkspaceStore)])
  workspaceStoreContract(subject);
