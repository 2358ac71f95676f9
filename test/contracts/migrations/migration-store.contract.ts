import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { MigrationStore } from '../../../activities/ports/migrations.js';
import type { MigrationRun } from '../../../schemas/migrations/migrations.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every store of migration runs promises: progress never goes back, and an ended run stays as it ended. */
export function migrationStoreContract(subject: Subject<MigrationStore>): void {
  describe(`migration store (${subject.name})`, () => {
    const store = useSubject(subject);
    const begin = async (given: Partial<MigrationRun> = {}): Promise<string> => {
      const run_id = randomUUID();
      await store().insert({
        run_id,
        name: 'records',
        mode: 'run',
        unit: 'records',
        pages_per_second: null,
        started_by: '1',
        ...given,
      });
      return run_id;
    };
    const progress = (done: number) => ({
      phase: 'copying',
      done,
      total: 10,
      figures: { skipped: 1 },
      pages_per_second: 5,
    });

    test('a run begins once', async () => {
      const id = await begin();
      await store().report(id, progress(3));
      await store().insert({
        run_id: id,
        name: 'records',
        mode: 'run',
        unit: 'records',
        pages_per_second: null,
        started_by: '2',
      });
      expect(await store().get(id)).toMatchObject({
        run_id: id,
        state: 'running',
        started_by: '1',
        finished_at: null,
        error: null,
        ...progress(3),
      });
      expect(await store().get('none')).toBeNull();
    });

    test('done never goes down', async () => {
      const id = await begin();
      await store().report(id, progress(7));
      await store().report(id, { ...progress(4), phase: 'verifying' });
      expect(await store().get(id)).toMatchObject({ done: 7, phase: 'verifying' });
    });

    test('pauses, goes on and ends once', async () => {
      const id = await begin();
      await store().setPaused(id, true);
      expect(await store().get(id)).toMatchObject({ state: 'paused', finished_at: null });
      await store().setPaused(id, false);
      await store().finish(id, { state: 'failed', error: { code: 'VDB_ERROR', message: 'away' } });
      await store().finish(id, { state: 'completed', error: null });
      await store().setPaused(id, true);
      await store().report(id, progress(9));
      const ended = await store().get(id);
      expect(ended).toMatchObject({
        state: 'failed',
        error: { code: 'VDB_ERROR', message: 'away' },
        done: 0,
      });
      expect(ended!.finished_at).toBeInstanceOf(Date);
    });

    test('lists runs, the newest first, and the latest of each mode', async () => {
      const first = await begin({ name: 'default-embedder' });
      await new Promise((resolve) => setTimeout(resolve, 2));
      const second = await begin({ name: 'default-embedder' });
      const dry = await begin({ name: 'default-embedder', mode: 'dry_run' });
      const listed = (await store().list('default-embedder', 10)).map(({ run_id }) => run_id);
      expect(listed.indexOf(second)).toBeLessThan(listed.indexOf(first));
      expect(new Set(listed)).toEqual(new Set([first, second, dry]));
      expect(await store().list('default-embedder', 1)).toHaveLength(1);
      const latest = (await store().latest()).filter(({ name }) => name === 'default-embedder');
      expect(latest.map(({ run_id }) => run_id).sort()).toEqual([second, dry].sort());
    });
  });
}
