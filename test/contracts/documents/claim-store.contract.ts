import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ClaimStore } from '../../../activities/ports/files.js';
import { collect, times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

function claim(overrides: Partial<Parameters<ClaimStore['claim']>[0]> = {}) {
  return {
    partition: 'library',
    digest: randomUUID(),
    fileKey: randomUUID(),
    fileId: 'guide',
    taskId: randomUUID(),
    ...overrides,
  };
}

/** What every claim store promises: the same bytes are in a partition once. */
export function claimStoreContract(subject: Subject<ClaimStore>): void {
  describe(`claim store (${subject.name})`, () => {
    const store = useSubject(subject);
    const scanned = async (digest: string) =>
      (await collect(store().scan())).filter((found) => found.digest === digest);

    test('is ours, also when asked again; another file is named the holder', async () => {
      const mine = claim();
      expect(await store().claim(mine)).toBeNull();
      expect(await store().claim(mine)).toBeNull();
      const other = claim({ digest: mine.digest, fileId: 'other' });
      expect(await store().claim(other)).toEqual({ existingFileId: 'guide' });
      expect(await store().claim({ ...other, partition: 'elsewhere' })).toBeNull();
    });

    test('of 50 files at once one has it', async () => {
      const { digest } = claim();
      const answers = await Promise.all(times(50, () => store().claim(claim({ digest }))));
      expect(answers.filter((answer) => answer === null)).toHaveLength(1);
      expect(await scanned(digest)).toHaveLength(1);
    });

    test('tasks of one file share it, and it goes with the last of them', async () => {
      const first = claim();
      const second = { ...first, taskId: randomUUID() };
      await Promise.all([store().claim(first), store().claim(second)]);
      await store().release([first.taskId]);
      expect(await scanned(first.digest)).toMatchObject([{ holders: [second.taskId] }]);
      expect(await store().claim(claim({ digest: first.digest }))).not.toBeNull();
      await store().release([first.taskId, second.taskId]);
      expect(await scanned(first.digest)).toEqual([]);
      expect(await store().claim(claim({ digest: first.digest }))).toBeNull();
    });

    test('many tasks letting go at once leave nothing behind', async () => {
      const base = claim();
      const taskIds = times(20, () => randomUUID());
      await Promise.all(taskIds.map((taskId) => store().claim({ ...base, taskId })));
      await Promise.all(taskIds.map((taskId) => store().release([taskId])));
      expect(await scanned(base.digest)).toEqual([]);
    });

    test('claiming while the last holder lets go ends with one clear owner', async () => {
      for (let round = 0; round < 20; round += 1) {
        const old = claim();
        await store().claim(old);
        const next = claim({ digest: old.digest });
        const [, answer] = await Promise.all([store().release([old.taskId]), store().claim(next)]);
        const found = await scanned(old.digest);
        expect(found.map(({ fileKey }) => fileKey)).toEqual(answer === null ? [next.fileKey] : []);
      }
    });

    test('releases what a file holds elsewhere', async () => {
      const fileKey = randomUUID();
      const here = claim({ fileKey, partition: 'here' });
      const there = claim({ fileKey, partition: 'there' });
      for (const each of [here, there]) await store().claim(each);
      await store().releaseElsewhere(fileKey, 'here');
      expect(await scanned(here.digest)).toHaveLength(1);
      expect(await scanned(there.digest)).toEqual([]);
    });

    test('lists what a file holds, with the tasks that hold it', async () => {
      const first = claim({ partition: 'here' });
      const second = { ...first, taskId: randomUUID() };
      const elsewhere = claim({ fileKey: first.fileKey, partition: 'there' });
      for (const each of [first, second, elsewhere, claim()]) await store().claim(each);
      const found = await store().listByFile(first.fileKey);
      const { fileKey } = first;
      expect(found).toHaveLength(2);
      expect(found).toContainEqual({
        partition: 'here',
        digest: first.digest,
        fileKey,
        holders: [first.taskId, second.taskId],
      });
      const { digest, taskId } = elsewhere;
      expect(found).toContainEqual({ partition: 'there', digest, fileKey, holders: [taskId] });
      expect(await store().listByFile(randomUUID())).toEqual([]);
    });

    test('releases all that a file holds', async () => {
      const fileKey = randomUUID();
      const claims = times(3, () => claim({ fileKey }));
      const other = claim();
      for (const each of [...claims, other]) await store().claim(each);
      await store().releaseFiles([fileKey]);
      await store().release([]);
      const left = (await collect(store().scan())).map((found) => found.fileKey);
      expect(left).not.toContain(fileKey);
      expect(left).toContain(other.fileKey);
    });
  });
}
