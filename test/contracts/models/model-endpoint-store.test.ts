import { createMongoModelEndpointStore } from '../../../activities/stores/mongo/models/model-endpoint-store.js';
import { createFakeModelEndpointStore } from '../../support/fakes/models/fake-model-endpoint-store.js';
import { fake, mongo } from '../subject.js';
import {
  modelEndpointStoreContract,
  endpointAdministrationContract,
} from './model-endpoint-store.contract.js';

for (const subject of [fake(createFakeModelEndpointStore), ...mongo(createMongoModelEndpointStore)]) {
  modelEndpointStoreContract(subject);
  endpointAdministrationContract(subject);
}
