import { expect, test } from '@jest/globals';
import { createMongoDecisionCopyStore } from '../../../activities/stores/mongo/signals/decision-copy-store.js';
import { createFakeDecisionCopyStore } from '../../support/fakes/signals/fake-decision-copy-store.js';
import { decisionCopyStoreContract } from './decision-copy-store.contract.js';
import { fake, mongo, openTestDatabase } from '../subject.js';

for (const subject of [fake(createFakeDecisionCopyStore), ...mongo(createMongoDecisionCopyStore)])
  decisionCopyStoreContract(subject);

if (process.env['TAMIS_FAKES_ONLY'] !== '1')
  test('the server is told to remove copies a week after their last change', async () => {
    const { db, close } = await openTestDatabase();
    const indexes = await db.collection('decision_copies').indexes();
    const expireAfterSeconds = 7 * 24 * 3600;
    expect(indexes).toContainEqual(expect.objectContaining({ key: { at: 1 }, expireAfterSeconds }));
    await close();
  });
