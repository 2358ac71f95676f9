import { createMongoEmbedderSwapStore } from '../../../activities/stores/mongo/documents/embedder-swap-store.js';
import { createFakeEmbedderSwapStore } from '../../support/fakes/documents/fake-embedder-swap-store.js';
import { fake, mongo } from '../subject.js';
import { embedderSwapStoreContract } from './embedder-swap-store.contract.js';

for (const subject of [fake(createFakeEmbedderSwapStore), ...mongo(createMongoEmbedderSwapStore)])
  embedderSwapStoreContract(subject);
