import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { backUpWipeAndRestore } from '../support/backup-campaign.js';

let location: string;
beforeAll(async () => {
  location = await mkdtemp(join(tmpdir(), 'tamis-backup-'));
});
afterAll(() => rm(location, { recursive: true, force: true }));

describe('a backup that is restored by a new stack, each with a worker that is killed', () => {
  it('answers as the former one did, and sends nothing twice', async () => {
    const report = await backUpWipeAndRestore({
      files: 12,
      paragraphs: 4,
      alerts: 200,
      location,
      secretsKey: randomBytes(32).toString('base64'),
    });
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ sent: 100, held: 100, sentAgain: 0, questions: 4 });
  }, 300_000);
});
