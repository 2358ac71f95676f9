import { createMongoPromptStore } from '../../../activities/stores/mongo/models/prompt-store.js';
import { createFakePromptStore } from '../../support/fakes/models/fake-prompt-store.js';
import { fake, mongo } from '../subject.js';
import { promptStoreContract } from './prompt-store.contract.js';

for (const subject of [fake(createFakePromptStore), ...mongo(createMongoPromptStore)])
  promptStoreContract(subject);
