import { expect, test } from '@jest/globals';
import { ID, openRestoredStores } from '../../support/restored-stores.js';

const PARTS = [
  { section: 'counters', collection: 'counters', records: [{ _id: 'alert', value: 7 }] },
  { section: 'signals', collection: 'logins', records: [{ _id: 'of the backup' }] },
  { section: 'signals', collection: 'watchers', records: [{ _id: 'of the backup' }] },
] as const;

test('a restore that replaces finds each part whole before it removes anything', async () => {
  const stores = await openRestoredStores(PARTS);
  await stores.archive.write('logins', [{ _id: 'own' }]);
  const phases: string[] = [];
  await stores.restore({ replace: true, between: async ({ phase }) => phases.push(phase) });
  expect(phases.slice(0, 5)).toEqual(['checking', 'checking', 'checking', 'clearing', 'restoring']);
  expect(stores.records('logins')).toEqual([{ _id: 'of the backup' }]);
});

test.each([
  ['is missing', 'NOT_FOUND', null],
  ['is damaged', 'BACKUP_NOT_USABLE', Buffer.from('other bytes')],
])('a backup of which the last part %s is refused, and what is stored stays', async (_how, code, bytes) => {
  const { storage, parts, archive, records, restore } = await openRestoredStores(PARTS);
  await archive.write('logins', [{ _id: 'own' }]);
  const last = `${ID}/${parts.at(-1)!.name}`;
  if (bytes === null) storage.objects.delete(last);
  else storage.objects.set(last, bytes);
  await expect(restore({ replace: true })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(parts.at(-1)!.name),
  });
  expect(records('logins')).toEqual([{ _id: 'own' }]);
});
