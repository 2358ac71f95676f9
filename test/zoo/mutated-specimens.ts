import { findLibreOffice } from '../../activities/documents/parsing/formats/libreoffice.js';
import { seededRandom } from '../support/seeded-random.js';
import { ZOO } from './all-specimens.js';
import { mutate } from './mutate.js';
import type { Mutation } from './mutate.js';

export interface MutatedSpecimen extends Mutation {
  name: string;
  number: number;
}

/** Larger ones are left out: it is the readers that are tried, not the disk. */
const MAX_BYTES = 1024 * 1024;

/** So many damaged files of the zoo, its files in turn. The seed and the number make each. */
export async function* mutatedSpecimens(count: number, seed: number): AsyncGenerator<MutatedSpecimen> {
  const originals: { name: string; bytes: Buffer }[] = [];
  for (const { name, bytes, huge, libreOffice } of ZOO) {
    if (huge === true || (libreOffice === true && findLibreOffice() === null)) continue;
    const original = Buffer.from(await bytes());
    if (original.length > 0 && original.length <= MAX_BYTES) originals.push({ name, bytes: original });
  }
  for (let number = 0; number < count; number++) {
    const random = seededRandom(seed + number * 7919);
    // Its first numbers resemble each other for seeds that do.
    for (let times = 0; times < 8; times++) random();
    const { name, bytes } = originals[number % originals.length]!;
    const other = originals[Math.floor(random() * originals.length)]!.bytes;
    yield { name, number, ...mutate(bytes, other, random) };
  }
}
