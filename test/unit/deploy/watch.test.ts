import { afterEach, expect, it, jest } from '@jest/globals';
import { CliFailure, EXIT } from '../../../deploy/cli/tamis/cli-failure.js';
import type { Context } from '../../../deploy/cli/tamis/context.js';
import { watch } from '../../../deploy/cli/tamis/watch.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const context = {
  env: {},
  signal: new AbortController().signal,
  isTerminal: false,
  json: true,
  columns: 80,
  write: () => undefined,
} as unknown as Context;

/** Watches a run that is heard of once; after so long a silence the stream breaks off, and it has ended then. */
async function watchPast(silenceMs: number, downMs = 0): Promise<string> {
  let now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  let calls = 0;
  return watch<string>(context, {
    async *states() {
      calls += 1;
      if (calls === 1) {
        yield 'paused';
        now += silenceMs;
      }
      if (calls === 2) now += downMs;
      if (calls === 1 || downMs > 0) throw new CliFailure(EXIT.unreachable, 'cannot be reached');
      yield 'done';
    },
    isFinal: (state) => state === 'done',
    progressOf: () => ({ phase: 'files', done: 0, total: null, unit: 'files' }),
    howToComeBack: '',
  });
}

it('a stream that broke off after a long silence is opened anew', async () => {
  expect(await watchPast(600_000)).toBe('done');
});

it('a gateway that stays away is given up', async () => {
  await expect(watchPast(0, 121_000)).rejects.toMatchObject({ exitCode: EXIT.unreachable });
});
