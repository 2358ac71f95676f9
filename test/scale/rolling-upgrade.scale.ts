import { afterAll, expect, it } from '@jest/globals';
import { buildCommit, buildPresent } from '../support/release-build.js';
import type { Release } from '../support/release-build.js';
import { upgradeRolling } from '../support/rolling-campaign.js';

/** The release before, by its commit; another one, or the folder of a built one, is named by RELEASE_BEFORE. */
const BEFORE = process.env['RELEASE_BEFORE'] ?? '90149dc9';

const releases: Release[] = [];
afterAll(() => {
  for (const release of releases) release.remove();
});

it('two gateways and two workers of the release before are replaced one by one under load', async () => {
  const before = buildCommit(BEFORE);
  releases.push(before);
  const after = buildPresent();
  releases.push(after);
  const report = await upgradeRolling(before, after);
  console.log(JSON.stringify({ before: BEFORE, ...report }, null, 2));
  expect(report.faults).toEqual([]);
  expect(report.records?.figures['changed_by_partition_key_of_files']).toBe(1_200);
  expect(Math.min(report.searches, report.chats, report.changes, report.signals)).toBeGreaterThan(0);
}, 1_800_000);
