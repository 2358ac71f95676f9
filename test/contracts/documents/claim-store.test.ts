import { createMongoClaimStore } from '../../../activities/stores/mongo/documents/claim-store.js';
import { createFakeClaimStore } from '../../support/fakes/documents/fake-claim-store.js';
import { claimStoreContract } from './claim-store.contract.js';
import { fake, mongo } from '../subject.js';

for (const subject of [fake(createFakeClaimStore), ...mongo(createMongoClaimStore)])
  claimStoreContract(subject);
