import { expect, it } from '@jest/globals';
import { killFleet } from '../support/fleet-campaign.js';

it('two gateways and three workers, one killed every 20 s for five minutes under load, lose nothing', async () => {
  const report = await killFleet({ kills: 15, everyMs: 20_000 });
  console.log(JSON.stringify(report, null, 2));
  expect(report.faults).toEqual([]);
  expect(report.kills).toHaveLength(15);
  expect(Math.min(report.searches, report.chats, report.changes, report.signals)).toBeGreaterThan(0);
});
