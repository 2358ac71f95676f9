import { expect, it } from '@jest/globals';
import { drawSoak } from '../support/draw-soak.js';
import { soak } from '../support/soak-campaign.js';

// `npm run test:scale -- soak` goes on for half an hour, after which memory tells something.
it('mixed load leaves no handle open and no record behind', async () => {
  const report = await soak({ seconds: 12, everySeconds: 2, liveEverySeconds: 6 });
  expect(report).toMatchObject({ faults: [], left: {} });
  expect(Math.min(report.searches, report.chats, report.changes, report.signals)).toBeGreaterThan(3);
  expect(report.live.length).toBeGreaterThan(1);
  for (const { gateway, worker } of [...report.samples, ...report.live])
    expect(Math.min(gateway, worker)).toBeGreaterThan(10);
  expect(drawSoak(report.samples, report.live)).toMatch(/^<svg [^]*<\/svg>\n$/);
}, 240_000);
