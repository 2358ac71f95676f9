import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { EmbedderSwapStore } from '../../../activities/ports/embedder-swaps.js';
import type { SwapStart } from '../../../schemas/documents/embedder-swaps.js';
import { until } from '../../support/until.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every store of swaps promises: progress never goes back, and an ended swap stays as it ended. */
export function embedderSwapStoreContract(subject: Subject<EmbedderSwapStore>): void {
  describe(`embedder swap store (${subject.name})`, () => {
    const store = useSubject(subject);
    const sample = (given: Partial<SwapStart> = {}): SwapStart => ({
      swap_id: randomUUID(),
      partition: 'library',
      partition_key: randomUUID(),
      source_embedder: 'old',
      target_embedder: 'new',
      min_overlap: null,
      min_known_item: 0.5,
      question_set: 'main',
      min_ndcg: 0.4,
      started_by: '1',
      ...given,
    });
    const progress = (files_done: number) => ({
      phase: 'embedding',
      files_total: 10,
      files_done,
      chunks_over_window: 2,
      figures: null,
    });

    test('a swap begins once, as running', async () => {
      const swap = sample();
      await store().insert(swap);
      await store().report(swap.swap_id, progress(3));
      await store().insert({ ...swap, started_by: '2' });
      expect(await store().get(swap.swap_id)).toMatchObject({
        ...swap,
        ...progress(3),
        status: 'running',
        error: null,
        finished_at: null,
      });
      expect(await store().get('none')).toBeNull();
    });

    test('files done never go down', async () => {
      const swap = sample();
      await store().insert(swap);
      const figures = { sampled: 9, overlap: 0.5, known_item_before: 0.7, known_item_after: 0.9 };
      await store().report(swap.swap_id, progress(7));
      await store().report(swap.swap_id, { ...progress(4), phase: 'measuring', figures });
      expect(await store().get(swap.swap_id)).toMatchObject({ files_done: 7, phase: 'measuring', figures });
    });

    test('ends once', async () => {
      const swap = sample();
      await store().insert(swap);
      const error = 'The overlap is too small.';
      await store().finish(swap.swap_id, { status: 'failed', error, code: 'EMBEDDER_SWAP_HELD_BACK' });
      await store().finish(swap.swap_id, { status: 'completed', error: null });
      await store().report(swap.swap_id, progress(9));
      const ended = await store().get(swap.swap_id);
      expect(ended).toMatchObject({
        status: 'failed',
        error,
        error_code: 'EMBEDDER_SWAP_HELD_BACK',
        files_done: 0,
      });
      expect(ended!.finished_at).toBeInstanceOf(Date);
    });

    test('tells the newest of a partition, of each of several, and of all', async () => {
      const first = sample();
      const second = sample({ partition_key: first.partition_key });
      const other = sample();
      for (const swap of [first, second, other]) {
        await store().insert(swap);
        const { started_at: at } = (await store().get(swap.swap_id))!;
        await until('a millisecond is over', async () => Date.now() > at.getTime(), { everyMs: 1 });
      }
      expect((await store().latest(first.partition_key))?.swap_id).toBe(second.swap_id);
      expect(await store().latest('none')).toBeNull();
      const keys = [other.partition_key, 'none', first.partition_key];
      const newest = await store().latestOfEach(keys);
      expect([...newest].map(([key, { swap_id }]) => [key, swap_id]).sort()).toEqual(
        [
          [first.partition_key, second.swap_id],
          [other.partition_key, other.swap_id],
        ].sort(),
      );
      expect(await store().latestOfEach([])).toEqual(new Map());
      expect((await store().list(2)).map(({ swap_id }) => swap_id)).toEqual([other.swap_id, second.swap_id]);
    });
  });
}
