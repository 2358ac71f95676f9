import { createMongoPresetStore } from '../../../activities/stores/mongo/models/preset-store.js';
import { createFakePresetStore } from '../../support/fakes/models/fake-preset-store.js';
import { fake, mongo } from '../subject.js';
import { presetStoreContract, presetAdministrationContract } from './preset-store.contract.js';

for (const subject of [fake(createFakePresetStore), ...mongo(createMongoPresetStore)]) {
  presetStoreContract(subject);
  presetAdministrationContract(subject);
}
