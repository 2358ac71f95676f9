import { createMongoFileStore } from '../../../activities/stores/mongo/documents/file-store.js';
import { createFakeFileStore } from '../../support/fakes/documents/fake-file-store.js';
import { fileLinksContract } from './file-links.contract.js';
import { fake, mongo } from '../subject.js';

for (const subject of [fake(createFakeFileStore), ...mongo(createMongoFileStore)]) fileLinksContract(subject);
