import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { BackupRunStore } from '../../../activities/ports/backups.js';
import type { BackupPart, BackupRun } from '../../../schemas/backups/backups.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every store of runs promises: progress never goes back, an ended run stays as it ended, parts are in order. */
export function backupRunStoreContract(subject: Subject<BackupRunStore>): void {
  describe(`backup run store (${subject.name})`, () => {
    const store = useSubject(subject);
    const begin = async (given: Partial<BackupRun> = {}): Promise<string> => {
      const run_id = randomUUID();
      await store().insert({ run_id, kind: 'backup', backup_id: 'id', started_by: '1', ...given });
      return run_id;
    };
    const progress = (done: number) => ({ phase: 'files', done, total: 10, figures: { files: done } });
    const part = (name: string): BackupPart => ({
      name,
      section: 'files',
      bytes: 7,
      sha256: 'ab',
      records: 2,
    });

    test('a run begins once', async () => {
      const id = await begin();
      await store().report(id, progress(3));
      await store().insert({ run_id: id, kind: 'backup', backup_id: 'id', started_by: '1' });
      expect(await store().get(id)).toMatchObject({ state: 'running', done: 3, error: null });
    });

    test('progress does not go back, and ends with the run', async () => {
      const id = await begin();
      await store().report(id, progress(5));
      await store().report(id, progress(4));
      expect(await store().get(id)).toMatchObject({ done: 5, figures: { files: 4 } });
      await store().finish(id, { state: 'failed', error: { code: 'STORAGE_ERROR', message: 'no room' } });
      await store().finish(id, { state: 'completed', error: null });
      await store().report(id, progress(9));
      const run = await store().get(id);
      expect(run).toMatchObject({ state: 'failed', done: 5, error: { message: 'no room' } });
      expect(run?.finished_at).toBeInstanceOf(Date);
    });

    test('the last backup is the newest that came to its end', async () => {
      const first = await begin();
      await store().finish(first, { state: 'completed', error: null });
      const failed = await begin();
      await store().finish(failed, { state: 'failed', error: null });
      const restore = await begin({ kind: 'restore' });
      await store().finish(restore, { state: 'completed', error: null });
      expect((await store().lastBackup())?.run_id).toBe(first);
      const listed = await store().list(3);
      expect(listed.map(({ run_id }) => run_id)).toEqual([restore, failed, first]);
    });

    test('the last backup is none that was removed', async () => {
      const [kept, gone] = [randomUUID(), randomUUID()];
      for (const backup_id of [kept, gone])
        await store().finish(await begin({ backup_id }), { state: 'completed', error: null });
      const found = await store().lastBackup();
      expect(found?.backup_id).toBe(gone);
      for (const _time of [1, 2]) await store().markRemoved([gone, 'of no run']);
      expect((await store().lastBackup())?.backup_id).toBe(kept);
      expect(await store().get(found!.run_id)).toEqual(found);
    });

    test('parts of a run are in order, the last of a number counts, and they are dropped', async () => {
      const [id, other] = [await begin(), await begin()];
      await store().putPart(id, 2, part('second'));
      await store().putPart(id, 1, part('first'));
      await store().putPart(other, 1, part('of another run'));
      await store().putPart(id, 2, part('second again'));
      expect(await store().parts(id)).toEqual([part('first'), part('second again')]);
      await store().dropParts(id);
      expect(await store().parts(id)).toEqual([]);
      expect(await store().parts(other)).toHaveLength(1);
    });

    test('what is not there', async () => {
      expect(await store().get('none')).toBeNull();
    });
  });
}
