import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ImportStore } from '../../../activities/ports/imports.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every store of imports promises: what a source's users became stays, and an ended run stays as it ended. */
export function importStoreContract(subject: Subject<ImportStore>): void {
  describe(`import store (${subject.name})`, () => {
    const store = useSubject(subject);
    const source = { source_id: 'old', url: 'http://old.example', token: 'or-secret' };
    const begin = async (dry_run = false): Promise<string> => {
      const run_id = randomUUID();
      await store().insertRun({ run_id, source_id: 'old', dry_run, started_by: '1' });
      return run_id;
    };
    const progress = (done: number) => ({
      phase: 'files',
      done,
      total: 10,
      figures: { taken: done },
      refused: [],
    });

    test('a source keeps what its users became when its address or token changes', async () => {
      await store().putSource(source);
      await store().mapUser('old', 7, 12);
      await store().putSource({ ...source, url: 'http://new.example', token: 'or-other' });
      expect(await store().getSource('old')).toEqual({
        source_id: 'old',
        url: 'http://new.example',
        users: { 7: 12 },
      });
      expect(await store().openToken('old')).toBe('or-other');
      expect((await store().listSources()).map(({ source_id }) => source_id)).toEqual(['old']);
    });

    test('no answer but one holds a token', async () => {
      await store().putSource(source);
      const id = await begin();
      const answers = [await store().getSource('old'), await store().listSources(), await store().getRun(id)];
      expect(JSON.stringify(answers)).not.toContain('or-secret');
    });

    test('a run begins once, and its progress does not go back', async () => {
      const id = await begin();
      await store().report(id, progress(5));
      await store().report(id, progress(4));
      await store().insertRun({ run_id: id, source_id: 'old', dry_run: false, started_by: '1' });
      expect(await store().getRun(id)).toMatchObject({ state: 'running', done: 5, figures: { taken: 4 } });
    });

    test('a refused file stands in the record once', async () => {
      const id = await begin();
      const refused = [{ partition: 'p', file_id: 'f', code: 'NOT_FOUND', message: 'not kept' }];
      await store().report(id, { ...progress(1), refused });
      await store().report(id, { ...progress(1), refused });
      await store().report(id, progress(2));
      expect((await store().getRun(id))?.refused).toEqual(refused);
    });

    test('a run pauses, goes on and ends once', async () => {
      const id = await begin(true);
      await store().setPaused(id, true);
      expect(await store().getRun(id)).toMatchObject({ state: 'paused', dry_run: true });
      await store().setPaused(id, false);
      await store().finish(id, { state: 'completed', error: null });
      await store().finish(id, { state: 'failed', error: { code: 'STORAGE_ERROR', message: 'late' } });
      await store().setPaused(id, true);
      await store().report(id, progress(9));
      const run = await store().getRun(id);
      expect(run).toMatchObject({ state: 'completed', error: null, done: 0 });
      expect(run?.finished_at).toBeInstanceOf(Date);
    });

    test('runs of a source, the newest first', async () => {
      const first = await begin();
      await store().finish(first, { state: 'completed', error: null });
      const second = await begin();
      const listed = await store().listRuns('old', 5);
      expect(listed.slice(0, 2).map(({ run_id }) => run_id)).toEqual([second, first]);
      expect(await store().listRuns('old', 1)).toHaveLength(1);
    });

    test('what is not there', async () => {
      expect(await store().getSource('none')).toBeNull();
      expect(await store().openToken('none')).toBeNull();
      expect(await store().getRun('none')).toBeNull();
      expect(await store().listRuns('none', 5)).toEqual([]);
    });
  });
}
