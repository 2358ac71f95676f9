import { writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { mean } from '../../activities/retrieval/evaluation/measures.js';
import { drawSoak } from '../support/draw-soak.js';
import { soak } from '../support/soak-campaign.js';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 30);
/** Until then caches fill, and what is asked for is compiled. */
const SETTLED_SECONDS = Number(process.env['SOAK_SETTLED_SECONDS'] ?? 300);
/** Resident memory is what was taken once, of which V8 and malloc give back what they like. */
const RESIDENT_SPARE = 1.15;
/** What is held after a full collection. */
const LIVE_SPARE_MB = 12;

it(`${MINUTES} minutes of mixed load leave memory, handles and records as they were`, async () => {
  const seconds = MINUTES * 60;
  const report = await soak({ seconds, everySeconds: 5, liveEverySeconds: seconds / 12 });
  const { samples, live, ...figures } = report;
  console.log(JSON.stringify({ ...figures, live }, null, 2));
  if (process.env['SOAK_PICTURE'] !== undefined)
    writeFileSync(process.env['SOAK_PICTURE'], drawSoak(samples, live));

  expect(report.faults).toEqual([]);
  expect(report.left).toEqual({});
  const settled = samples.filter(({ second }) => second >= SETTLED_SECONDS);
  const part = Math.floor(settled.length / 4);
  const flat = (['gateway', 'worker', 'parsers'] as const).map((name) => {
    const of = (some: typeof settled): number => mean(some.map((sample) => sample[name]));
    return { name, first: of(settled.slice(0, part)), last: of(settled.slice(-part)) };
  });
  console.log(JSON.stringify(flat));
  expect(flat.filter(({ first, last }) => last > first * RESIDENT_SPARE)).toEqual([]);
  const held = live.filter(({ second }) => second >= SETTLED_SECONDS);
  for (const name of ['gateway', 'worker'] as const)
    expect(held.at(-1)![name]).toBeLessThan(held[0]![name] + LIVE_SPARE_MB);
}, 7_200_000);
