import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createChunkSpool } from '../../../activities/backups/chunk-spool.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tamis-spool-'));
});

async function piecesOf(spool: ReturnType<typeof createChunkSpool>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of spool.pieces()) pieces.push(Buffer.from(piece).toString('utf8'));
  return pieces;
}

const MIB = 1024 * 1024;

describe('chunks of a backup that wait for their record', () => {
  test('few stay in memory', async () => {
    const spool = createChunkSpool(directory);
    for (const piece of ['one', 'two', '']) await spool.add(Buffer.from(piece));
    expect([await piecesOf(spool), spool.size()]).toEqual([['one', 'two', ''], 6]);
    expect(await readdir(directory)).toEqual([]);
  });

  test('many go on disk, in their order, and away again', async () => {
    const spool = createChunkSpool(directory);
    const pieces = ['a', 'bb', 'é', 'd'].map((sign) => sign.repeat(1.5 * MIB));
    for (const piece of pieces) await spool.add(Buffer.from(piece));
    expect(await readdir(directory)).toHaveLength(1);
    // As often as they are wanted.
    for (const _time of [1, 2])
      expect((await piecesOf(spool)).map((piece) => pieces.indexOf(piece))).toEqual([0, 1, 2, 3]);
    await spool.remove();
    await spool.remove();
    expect([await readdir(directory), await piecesOf(spool), spool.size()]).toEqual([[], [], 0]);
  });
});
