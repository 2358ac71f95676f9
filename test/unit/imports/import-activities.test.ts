import { afterEach, describe, expect, it } from '@jest/globals';
import { importBench } from '../../support/import-bench.js';
import type { ImportBench } from '../../support/import-bench.js';

let bench: ImportBench;
afterEach(() => bench.close());

describe('a slice whose time is over with the lists of the source', () => {
  it('takes a file all the same, so that each gets further', async () => {
    bench = await importBench(['a', 'b', 'c'], { sliceMs: 0 });
    const first = await bench.slice(null).result;
    expect(first).toMatchObject({ phase: 'files', done: 0, total: 3 });
    const second = await bench.slice(first).result;
    expect(second).toMatchObject({ phase: 'files', after: 'a', done: 1 });
    const third = await bench.slice(second).result;
    expect(third).toMatchObject({ phase: 'files', after: 'b', done: 2 });
    expect(await bench.slice(third).result).toMatchObject({ phase: 'files', after: '', done: 3 });
    expect(await bench.taken()).toEqual(['a', 'b', 'c']);
  });
});

describe('a file that the source does not give', () => {
  const listed = async () => (await bench.record()).refused.map(({ file_id, code }) => [file_id, code]);

  it.each([400, 410, 415, 422])('is listed and left out where it is refused with %i', async (status) => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/static/of-b', status);
    expect(await bench.run()).toMatchObject({ phase: 'done', done: 3, figures: { taken: 2, refused: 1 } });
    expect(await bench.taken()).toEqual(['a', 'c']);
    expect(await listed()).toEqual([['b', 'IMPORT_SOURCE_REFUSED']]);
  });

  it('is tried again, and left out once the source has answered all else for some attempts', async () => {
    bench = await importBench(['a', 'b', 'c']);
    bench.answers.set('/static/of-b', 500);
    const users = await bench.slice(null).result;
    const first = bench.slice(users);
    await expect(first.result).rejects.toMatchObject({ code: 'IMPORT_SOURCE_FAILED' });
    const heartbeatDetails = first.beats.at(-1);
    expect(heartbeatDetails).toMatchObject({ after: 'a', done: 1 });
    const early = bench.slice(users, { attempt: 2, heartbeatDetails });
    await expect(early.result).rejects.toMatchObject({ code: 'IMPORT_SOURCE_FAILED' });
    const later = await bench.slice(users, { attempt: 4, heartbeatDetails }).result;
    expect(later).toMatchObject({ phase: 'workspaces', done: 3, figures: { taken: 2, refused: 1 } });
    expect(await listed()).toEqual([['b', 'IMPORT_SOURCE_FAILED']]);
  });

  it.each([
    ['is away', 503, 'IMPORT_SOURCE_FAILED'],
    ['takes the token no more', 401, 'IMPORT_SOURCE_REFUSED'],
  ])('is not left out where the source %s', async (_what, status, code) => {
    bench = await importBench(['a', 'b', 'c']);
    const users = await bench.slice(null).result;
    bench.answers.set('/static/of-b', status);
    bench.onAsked('/static/of-b', () => bench.answers.set('/partition/', status));
    await expect(bench.slice(users, { attempt: 9 }).result).rejects.toMatchObject({ code });
    expect(await listed()).toEqual([]);
  });
});
