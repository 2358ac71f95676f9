import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { mapsBeyondBmp } from '../../activities/documents/parsing/pdf-astral.js';
import { mayHideText } from '../../activities/documents/parsing/pdf-hidden-scan.js';

test.each([
  ['in one line', ' obj%stream'],
  ['in a line each', ' obj%stream\n'],
  ['with blanks', ' obj   %   stream '],
])(
  'a PDF of comments in front of streams is looked through at once: %s',
  async (_, unit) => {
    const directory = await mkdtemp(join(tmpdir(), 'pdf-comments-'));
    const path = join(directory, 'one.pdf');
    try {
      await writeFile(path, `%PDF-1.4\n%${unit.repeat(60_000)}`);
      const before = process.cpuUsage().user;
      expect(await mapsBeyondBmp(path)).toBe(false);
      // What cannot be told is looked up page by page.
      expect(await mayHideText(path)).toBe(true);
      expect((process.cpuUsage().user - before) / 1000).toBeLessThan(8_000);
    } finally {
      await rm(directory, { recursive: true });
    }
  },
  180_000,
);
