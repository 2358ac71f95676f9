import { createMongoWorkerStore } from '../../../activities/stores/mongo/documents/worker-store.js';
import { createFakeWorkerStore } from '../../support/fakes/documents/fake-worker-store.js';
import { fake, mongo } from '../subject.js';
import { workerStoreContract } from './worker-store.contract.js';

for (const subject of [fake(createFakeWorkerStore), ...mongo(createMongoWorkerStore)])
  workerStoreContract(subject);
