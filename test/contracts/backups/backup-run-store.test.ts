import { createMongoBackupRunStore } from '../../../activities/stores/mongo/backups/backup-run-store.js';
import { createFakeBackupRunStore } from '../../support/fakes/backups/fake-backup-run-store.js';
import { fake, mongo } from '../subject.js';
import { backupRunStoreContract } from './backup-run-store.contract.js';

for (const subject of [fake(createFakeBackupRunStore), ...mongo(createMongoBackupRunStore)])
  backupRunStoreContract(subject);
