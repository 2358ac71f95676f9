import { createMongoMigrationStore } from '../../../activities/stores/mongo/migrations/migration-store.js';
import { createFakeMigrationStore } from '../../support/fakes/migrations/fake-migration-store.js';
import { fake, mongo } from '../subject.js';
import { migrationStoreContract } from './migration-store.contract.js';

for (const subject of [fake(createFakeMigrationStore), ...mongo(createMongoMigrationStore)])
  migrationStoreContract(subject);
