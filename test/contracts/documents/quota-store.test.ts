import { createMongoQuotaStore } from '../../../activities/stores/mongo/documents/quota-store.js';
import { createFakeQuotaStore } from '../../support/fakes/documents/fake-quota-store.js';
import { quotaStoreContract } from './quota-store.contract.js';
import { fake, openTestDatabase } from '../subject.js';
import type { Subject } from '../subject.js';
import type { QuotaStore } from '../../../activities/ports/users.js';

/** Reservations are kept in the users' own records, so these must be there. */
const mongo: Subject<QuotaStore> = {
  name: 'MongoDB',
  async open() {
    const { db, close } = await openTestDatabase();
    const people = Array.from({ length: 20 }, (_, index) => ({ _id: index + 1, display_name: 'x' }));
    await db.collection<{ _id: number; display_name: string }>('users').insertMany(people);
    return { store: createMongoQuotaStore(db), close };
  },
};

const subjects = [fake(createFakeQuotaStore), ...(process.env['TAMIS_FAKES_ONLY'] === '1' ? [] : [mongo])];
for (const subject of subjects) quotaStoreContract(subject);
