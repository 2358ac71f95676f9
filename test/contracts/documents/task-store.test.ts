import { createMongoTaskStore } from '../../../activities/stores/mongo/documents/task-store.js';
import { createFakeTaskStore } from '../../support/fakes/documents/fake-task-store.js';
import { fake, mongo } from '../subject.js';
import { taskStoreContract } from './task-store.contract.js';

for (const subject of [fake(createFakeTaskStore), ...mongo(createMongoTaskStore)]) taskStoreContract(subject);
