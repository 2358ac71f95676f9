import { createMongoUserStore } from '../../../activities/stores/mongo/documents/user-store.js';
import { createFakeUserStore } from '../../support/fakes/documents/fake-user-store.js';
import { fake, mongo } from '../subject.js';
import { userStoreContract, userAdministrationContract } from './user-store.contract.js';

for (const subject of [fake(createFakeUserStore), ...mongo(createMongoUserStore)]) {
  userStoreContract(subject);
  userAdministrationContract(subject);
}
