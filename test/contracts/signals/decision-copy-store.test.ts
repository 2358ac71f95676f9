import { createMongoDecisionCopyStore } from '../../../activities/stores/mongo/signals/decision-copy-store.js';
import { createFakeDecisionCopyStore } from '../../support/fakes/signals/fake-decision-copy-store.js';
import { decisionCopyStoreContract } from './decision-copy-store.contract.js';
import { fake, mongo } from '../subject.js';

for (const subject of [fake(createFakeDecisionCopyStore), ...mongo(createMongoDecisionCopyStore)])
  decisionCopyStoreContract(subject);
