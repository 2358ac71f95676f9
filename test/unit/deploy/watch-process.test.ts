import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProcessActivity } from '../../../deploy/local/process-activity.js';
import { WATCH_TIMES, watchProcess } from '../../../deploy/local/watch-process.js';
import type { Fault } from '../../../deploy/local/watch-process.js';
import { ManualClock } from './manual-clock.js';

/** What noticing may take in all. */
const NOTICED_MS = 10_000;

describe('a watched process', () => {
  let clock: ManualClock;
  let told: string[];
  let fault: Fault | null | undefined;
  let program: {
    wanted: boolean;
    alive: boolean;
    answer: () => Promise<boolean>;
    isStopped: boolean;
    waitsForDisk: boolean;
    /** Of one processor. */
    demand: number;
    /** The system says nothing about processes. */
    unknown: boolean;
  };
  let watching: Promise<void>;

  const answersAfter = (ms: number) => async () => {
    await clock.sleep(ms);
    return true;
  };
  const neverAnswers = () => new Promise<boolean>(() => undefined);

  beforeEach(() => {
    clock = new ManualClock();
    told = [];
    fault = undefined;
    program = {
      wanted: true,
      alive: true,
      answer: answersAfter(20),
      isStopped: false,
      waitsForDisk: false,
      demand: 0.01,
      unknown: false,
    };
    const activity = (): ProcessActivity | null =>
      program.unknown
        ? null
        : {
            isStopped: program.isStopped,
            waitsForDisk: program.waitsForDisk,
            demandMs: clock.now() * program.demand,
          };
    const watched = {
      isWanted: () => program.wanted,
      isAlive: () => program.alive,
      answers: () => program.answer(),
      activity,
      onSlow: (seconds: number) => void told.push(`slow ${seconds}`),
      onAnswer: () => void told.push('answers again'),
    };
    watching = watchProcess(watched, WATCH_TIMES, clock).then((result) => void (fault = result));
  });
  afterEach(async () => {
    program.wanted = false;
    await clock.run(1000);
    await watching;
  });

  test('that answers is left alone, for hours', async () => {
    await clock.run(3 * 3_600_000);
    expect([fault, told]).toEqual([undefined, []]);
  });

  test('that ended is noticed at once', async () => {
    await clock.run(60_000);
    program.alive = false;
    await clock.run(500);
    expect(fault).toEqual({ kind: 'ended' });
  });

  test.each([0, 300, 700, 990])(
    'that was halted is noticed within 10 s (%i ms after a probe began)',
    async (ms) => {
      await clock.run(60_000 + ms);
      program.answer = neverAnswers;
      program.isStopped = true;
      await clock.run(NOTICED_MS);
      expect(fault).toMatchObject({ kind: 'silent', state: 'stopped' });
    },
  );

  test('that hangs without wanting a processor is noticed within 10 s', async () => {
    await clock.run(60_000);
    program.answer = neverAnswers;
    await clock.run(NOTICED_MS);
    expect(fault).toMatchObject({ kind: 'silent', state: 'idle' });
  });

  test('that refuses every question at once is noticed within 10 s, and not before 7', async () => {
    await clock.run(60_000);
    program.answer = () => Promise.reject(new Error('connection refused'));
    await clock.run(6500);
    expect(fault).toBeUndefined();
    await clock.run(NOTICED_MS - 6500);
    expect(fault).toMatchObject({ kind: 'silent', state: 'idle' });
  });

  test.each(['demand', 'waitsForDisk', 'unknown'])(
    'that is at work (%s) while it is silent is told within 10 s and gets a minute',
    async (reason) => {
      await clock.run(60_000);
      program.answer = neverAnswers;
      if (reason === 'demand') program.demand = 0.4;
      else if (reason === 'unknown') program.unknown = true;
      else program.waitsForDisk = true;
      await clock.run(NOTICED_MS);
      expect([fault, told]).toEqual([undefined, [expect.stringMatching(/^slow [78]$/)]]);
      await clock.run(45_000);
      expect(fault).toBeUndefined();
      await clock.run(10_000);
      expect(fault).toMatchObject({ kind: 'silent', state: 'busy' });
    },
  );

  test('that was silent for half a minute of work and answers again is left alone', async () => {
    program.demand = 0.4;
    program.answer = neverAnswers;
    await clock.run(30_000);
    program.answer = answersAfter(20);
    await clock.run(120_000);
    expect(fault).toBeUndefined();
    expect(told).toEqual([expect.stringMatching(/^slow/), 'answers again']);
  });

  test('is not blamed for time in which the launcher itself did not run', async () => {
    await clock.run(60_000);
    // as in Node's event loop after a pause: time limits that have passed come before answers that have arrived
    program.answer = async () => {
      await clock.sleep(600);
      await clock.sleep(1);
      return true;
    };
    for (let times = 0; times < 30; times += 1) {
      await clock.run(510);
      clock.jump(5000);
    }
    expect([fault, told]).toEqual([undefined, []]);
    program.answer = neverAnswers;
    await clock.run(NOTICED_MS);
    expect(fault).toMatchObject({ kind: 'silent' });
  });
});
