import { createMongoApiKeyStore } from '../../../activities/stores/mongo/signals/api-key-store.js';
import { createFakeApiKeyStore } from '../../support/fakes/signals/fake-api-key-store.js';
import { apiKeyStoreContract } from './api-key-store.contract.js';
import { fake, mongo } from '../subject.js';

for (const subject of [fake(createFakeApiKeyStore), ...mongo(createMongoApiKeyStore)])
  apiKeyStoreContract(subject);
