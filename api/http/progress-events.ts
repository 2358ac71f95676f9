import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../schemas/app-error.js';
import type { PublicContext } from './route.js';
import { DONE_EVENT, dataEvent, errorEvent } from './stream-events.js';

const LOOK_EVERY_MS = 500;
/** A stream that is silent for so long gets a comment: proxies, and fetch of Node, break off one that says nothing. */
const SILENT_MS = 15_000;

/** A record of a run that ends. */
interface Run {
  started_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

/** A run as it is answered: its times in ISO 8601. */
export function presentRun<R extends Run>({ started_at, updated_at, finished_at, ...rest }: R) {
  return {
    ...rest,
    started_at: started_at.toISOString(),
    updated_at: updated_at.toISOString(),
    finished_at: finished_at?.toISOString() ?? null,
  };
}

/**
 * Of a stream, which may go on for hours, the caller is asked for anew so often: who has lost the token, the session or
 * the right to it hears no more.
 */
export const STREAM_ASKS_MS = 2_000;

/**
 * One server-sent event per change of a run, until it has ended, its record is gone, or its caller may see it no more;
 * comments in between.
 */
export async function* progressEvents<R extends Run>(
  read: () => Promise<R | null | undefined>,
  isFinal: (run: R) => boolean,
  { signal, admitAnew }: Pick<PublicContext, 'signal' | 'admitAnew'>,
  silentMs = SILENT_MS,
): AsyncGenerator<string> {
  let told = '';
  let toldAt = Date.now();
  while (!signal.aborted) {
    const refusal = await admitAnew(STREAM_ASKS_MS).then(() => null, refusalOf);
    if (refusal !== null) {
      yield errorEvent(refusal);
      break;
    }
    const run = await read();
    if (run === null || run === undefined) return;
    const event = dataEvent(presentRun(run));
    const isNews = event !== told;
    if (isNews || Date.now() - toldAt >= silentMs) {
      yield isNews ? event : ': still there\n\n';
      toldAt = Date.now();
    }
    told = event;
    if (isFinal(run)) break;
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  yield DONE_EVENT;
}

/** @throws what is no refusal, but a fault of ours */
function refusalOf(thrown: unknown): AppError {
  if (thrown instanceof AppError && thrown.status < 500) return thrown;
  throw thrown;
}
