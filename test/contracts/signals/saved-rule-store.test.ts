import { createMongoSavedRuleStore } from '../../../activities/stores/mongo/signals/saved-rule-store.js';
import { createFakeSavedRuleStore } from '../../support/fakes/signals/fake-saved-rule-store.js';
import { fake, mongo } from '../subject.js';
import { savedRuleStoreContract } from './saved-rule-store.contract.js';

for (const subject of [fake(createFakeSavedRuleStore), ...mongo(createMongoSavedRuleStore)])
  savedRuleStoreContract(subject);
