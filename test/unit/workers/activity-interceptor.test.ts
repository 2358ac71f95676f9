import { describe, expect, it } from '@jest/globals';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure, defaultPayloadConverter } from '@temporalio/common';
import { currentRequestId } from '../../../activities/request-scope.js';
import { createActivityInterceptors, toApplicationFailure } from '../../../workers/activity-interceptor.js';
import { AppError } from '../../../schemas/app-error.js';
import { REQUEST_ID_HEADER } from '../../../schemas/ids.js';

/** What the interceptor uses of a context, with a controller to cancel it. */
function fakeContext(heartbeatDetails?: unknown) {
  const beats: unknown[] = [];
  const controller = new AbortController();
  const context = {
    info: { activityType: 'parseDocument', attempt: 1, heartbeatDetails },
    cancellationSignal: controller.signal,
    heartbeat: (details?: unknown) => beats.push(details),
  } as unknown as Context;
  return { context, beats, controller };
}

function execute(context: Context, run: () => Promise<unknown>, failures: unknown[] = []) {
  return createActivityInterceptors(
    (failure) => failures.push(failure),
    () => undefined,
    null,
  )(context).inbound!.execute!({ args: [], headers: {} }, run);
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('the activity interceptor', () => {
  it('carries the code, the message and whether to try again', () => {
    expect(toApplicationFailure(new AppError('FILE_ENCRYPTED', 'protected'), 1)).toMatchObject({
      type: 'FILE_ENCRYPTED',
      message: 'protected',
      nonRetryable: true,
    });
    expect(toApplicationFailure(new AppError('VDB_CONNECTION_ERROR'), 99)).toMatchObject({
      nonRetryable: false,
    });
  });

  it('waits as long as the provider asks', () => {
    const failure = toApplicationFailure(
      new AppError('RATE_LIMITED', 'slow down', { retryAfterMs: 7000 }),
      1,
    );
    expect(failure.nextRetryDelay).toBe(7000);
  });

  it.each([86_400_000, 9_999_999_999_000])('asks again after 15 minutes where it asks for %i ms', (asked) => {
    const failure = toApplicationFailure(
      new AppError('RATE_LIMITED', 'slow down', { retryAfterMs: asked }),
      1,
    );
    expect(failure.nextRetryDelay).toBe(900_000);
  });

  it('turns an unknown throw into UNEXPECTED_ERROR and reports it', async () => {
    const failures: unknown[] = [];
    const { context } = fakeContext();
    const error = await failureOf(execute(context, () => Promise.reject(new TypeError('oops')), failures));
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ type: 'UNEXPECTED_ERROR', nonRetryable: false });
    expect(failures).toHaveLength(1);
  });

  it('gives a fault of a parser up after three tries', () => {
    const tried = [1, 2, 3].map((attempt) =>
      toApplicationFailure(new AppError('PARSER_INTERNAL_ERROR'), attempt),
    );
    expect(tried.map(({ nonRetryable }) => nonRetryable)).toEqual([false, false, true]);
  });

  it('gives an unknown error up after ten tries', () => {
    expect(toApplicationFailure(new TypeError('oops'), 9).nonRetryable).toBe(false);
    expect(toApplicationFailure(new TypeError('oops'), 10).nonRetryable).toBe(true);
  });

  it('takes an abort after a cancel for the cancel', async () => {
    const { context, controller } = fakeContext();
    const error = await failureOf(
      execute(context, async () => {
        controller.abort(new CancelledFailure('cancelled'));
        throw Object.assign(new Error('aborted'), { name: 'AbortError' });
      }),
    );
    expect(error).toBeInstanceOf(CancelledFailure);
  });

  it('lets an abort without a cancel be a failure', async () => {
    const { context } = fakeContext();
    const abort = Object.assign(new Error('aborted'), { name: 'AbortError' });
    expect(await failureOf(execute(context, () => Promise.reject(abort)))).toBeInstanceOf(ApplicationFailure);
  });

  it('beats with the last cursor, also with the one of the former attempt', async () => {
    const { context, beats } = fakeContext({ stored: 4 });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const running = execute(context, () => released);
    while (beats.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(beats[0]).toEqual({ stored: 4 });
    context.heartbeat({ stored: 9 });
    const before = beats.length;
    while (beats.length === before) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(beats.at(-1)).toEqual({ stored: 9 });
    release();
    await running;
  }, 20_000);

  it('runs an activity as part of the request that started its workflow, and names it', async () => {
    const headers = { [REQUEST_ID_HEADER]: defaultPayloadConverter.toPayload('request-1') };
    const notes: unknown[] = [];
    const run = (fails: boolean) =>
      createActivityInterceptors(
        ({ error: _error, ...note }) => notes.push(note),
        ({ ms: _ms, ...note }) => notes.push(note),
        null,
      )(fakeContext().context).inbound!.execute!({ args: [], headers }, async () => {
        await Promise.resolve();
        if (fails) throw new AppError('VDB_ERROR');
        return currentRequestId();
      });
    expect(await run(false)).toBe('request-1');
    await failureOf(run(true));
    const note = { activity: 'parseDocument', attempt: 1, request_id: 'request-1' };
    expect(notes).toEqual([note, note]);
    expect(currentRequestId()).toBeUndefined();
  });
});
