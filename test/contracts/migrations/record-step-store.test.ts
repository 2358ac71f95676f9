import { createMongoRecordStepStore } from '../../../activities/stores/mongo/migrations/record-step-store.js';
import { createFakeRecordStepStore } from '../../support/fakes/migrations/fake-record-step-store.js';
import { fake, mongo } from '../subject.js';
import { recordStepStoreContract } from './record-step-store.contract.js';

for (const subject of [fake(createFakeRecordStepStore), ...mongo(createMongoRecordStepStore)])
  recordStepStoreContract(subject);
