import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { sampleChunk } from '../../contracts/samples.js';
import { openRestoredStores } from '../../support/restored-stores.js';

function alert(id: number, identity: string) {
  return { _id: id, watcher: 'w', identity };
}

const BACKUP = [
  { section: 'counters', collection: 'counters', records: [{ _id: 'alert', value: 2 }] },
  { section: 'settings', collection: 'presets', records: [{ _id: 'of the backup' }] },
  { section: 'signals', collection: 'alerts', records: [alert(1, 'one'), alert(2, 'two')] },
] as const;

/** What pushes a signal whenever it is called, with the next id of the counter. */
async function openPushing() {
  const stores = await openRestoredStores(BACKUP);
  const { archive, records } = stores;
  const pushed: string[] = [];
  const push = async (phase: string): Promise<void> => {
    const id = 1 + Number(records('counters').find(({ _id }) => _id === 'alert')?.['value'] ?? 0);
    await archive.raiseCounter('alert', id);
    pushed.push(`${phase} ${id}`);
    await archive.write('alerts', [alert(id, pushed.at(-1)!)]);
  };
  return { ...stores, push, pushed, identities: () => records('alerts').map(({ identity }) => identity) };
}

test('signals that come between the slices of a restore are there at its end, beside those of the backup', async () => {
  const { restore, push, pushed, identities } = await openPushing();
  await restore({ between: ({ phase }) => push(phase) });
  expect(pushed).toHaveLength(8);
  expect(identities().toSorted()).toEqual(['one', 'two', ...pushed].toSorted());
});

test('signals that come before the counters are raised stop the restore', async () => {
  const { archive, restore, records, target } = await openPushing();
  const { get } = target.storage;
  target.storage.get = async (name, signal) => {
    if (name.endsWith('counters.tar.gz')) await archive.write('alerts', [alert(1, 'pushed')]);
    return await get(name, signal);
  };
  await expect(restore()).rejects.toMatchObject({ code: 'RESTORE_NOT_EMPTY' });
  expect(records('alerts')).toEqual([alert(1, 'pushed')]);
});

test('with --replace those stay that come once what was there is removed', async () => {
  const { restore, push, pushed, identities } = await openPushing();
  await push('before');
  await restore({ replace: true, between: ({ phase }) => push(phase) });
  const later = pushed.filter((name) => !/^(?:before|checking|clearing) /.test(name));
  expect(later).toHaveLength(4);
  expect(identities().toSorted()).toEqual(['one', 'two', ...later].toSorted());
});

test('bytes and chunks that come meanwhile stay, and what a start put there goes', async () => {
  const { restore, records, archive, target } = await openPushing();
  await archive.write('presets', [{ _id: 'of the start' }]);
  archive.hasRecords = async () => false;
  await target.chunks.ensureSchema([{ vectorField: 'v', dimension: 1 }]);
  await restore({
    between: async ({ phase }) => {
      if (phase !== 'clearing') return;
      const blob = { blobId: 'b', kind: 'upload', fileKey: 'f', generation: 9, taskId: 't' } as const;
      await target.blobs.write(blob, Readable.from([Buffer.from('x')], { objectMode: false }));
      await target.chunks.put([{ chunk: sampleChunk(), vector: [1] }], 'v');
    },
  });
  expect(await target.blobs.info('b')).not.toBeNull();
  const held: unknown[] = [];
  for await (const generation of target.chunks.scanGenerations()) held.push(generation);
  expect(held).toHaveLength(1);
  expect(records('presets')).toEqual([{ _id: 'of the backup' }]);
});

test('the scenarios that a process has noted today are found after a restore that replaces', async () => {
  const { restore, records, archive } = await openPushing();
  await archive.write('alert_scenarios', [{ _id: 'digest', folded: 'own/new-scenario', day: '2026-02-01' }]);
  await restore({ replace: true });
  expect(records('alert_scenarios')).toMatchObject([{ folded: 'own/new-scenario' }]);
});
