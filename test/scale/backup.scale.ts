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

describe('5,000 files and 20,000 alerts, backed up, wiped and restored', () => {
  it('answer as before, and nothing is sent twice', async () => {
    const report = await backUpWipeAndRestore({
      files: 5_000,
      paragraphs: 4,
      alerts: 20_000,
      location,
      secretsKey: randomBytes(32).toString('base64'),
    });
    process.stderr.write(`${JSON.stringify(report)}\n`);
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ sent: 10_000, held: 10_000, sentAgain: 0 });
  }, 7_200_000);
});
