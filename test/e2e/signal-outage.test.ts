import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openCutLine } from '../support/cut-line.js';
import type { CutLine } from '../support/cut-line.js';
import { runOutageCampaign } from '../support/outage-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let standIn: StandInCapi;
let temporalLine: CutLine;
let stack: RunningStack;

beforeAll(async () => {
  standIn = await createStandInCapi();
  temporalLine = await openCutLine(process.env['TEMPORAL_ADDRESS']!);
  stack = await openStack({
    CAPI_URL: standIn.url,
    PROXY_TIMEOUT_MS: '1500',
    TEMPORAL_ADDRESS: temporalLine.address,
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(async () => {
  await temporalLine?.restore();
  await stack?.close();
  await temporalLine?.close();
  await standIn?.close();
}, 60_000);

describe('signals through outages', () => {
  it('arrive once each and in order, and every push is answered within a second', async () => {
    const report = await runOutageCampaign({ stack, standIn, temporalLine, watchers: 4, signalsPerPhase: 5 });
    expect(report.faults).toEqual([]);
    expect(report.pushed).toBeGreaterThanOrEqual(200);
    expect(report.arrived).toBe(report.pushed - report.filtered);
    // The batch that was taken unanswered, and the one whose sender was killed: the repeats are real ones.
    expect(report.repeats).toBeGreaterThanOrEqual(2);
    expect(report.slowestMs).toBeLessThan(1000);
  }, 400_000);
});
