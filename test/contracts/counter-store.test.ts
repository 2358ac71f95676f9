import { createMongoCounterStore } from '../../activities/stores/mongo/counters.js';
import { createFakeCounterStore } from '../support/fakes/fake-counter-store.js';
import { fake, mongo } from './subject.js';
import { counterStoreContract } from './counter-store.contract.js';

for (const subject of [fake(createFakeCounterStore), ...mongo(createMongoCounterStore)])
  counterStoreContract(subject);
