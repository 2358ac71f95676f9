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
