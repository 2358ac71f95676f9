import { createLoopTurns } from '../../../activities/loop-turns.js';
import { AppError } from '../../../schemas/app-error.js';

/**
 * Keeps pushes short when more come than can be stored: those that would wait too long are refused at once, so that
 * the others are answered in time. A LAPI gives up after five seconds, so that without this no push would be answered
 * in time under overload; of a refused push it keeps the signals. No address takes all places.
 */
export interface PushAdmission {
  /**
   * To be asked before a body is read. Nothing is held: bodies that come slowly take no place.
   * @throws AppError SERVICE_UNAVAILABLE when a push that came now would wait too long, or its address has its share
   */
  ask(address: string): void;
  /**
   * Reads a push whose body has come, in a turn of the event loop that no other push has: to read one takes
   * milliseconds, and those that come together must not keep refusals and probes waiting.
   * @throws AppError as `ask` does
   */
  read<T>(address: string, work: () => T): Promise<T>;
  /**
   * Stores what was read, without asking again: who has waited for its turn is not sent away at the end of it.
   */
  store<T>(address: string, work: () => Promise<T>): Promise<T>;
}

/** As many pushes are under way at once as are done in this time: a push then waits as long. */
const WAIT_MS = 600;
/** So many are always let in: fewer tell nothing of what the stores can do. */
const MIN_PLACES = 8;
/** Beyond these a few more, of which one address has none. */
const MIN_PLACES_OF_OTHERS = 4;
/** Of the places, so many are for one address; all pushes may come from one, which then waits a little less. */
const SHARE = 2 / 3;
/** What is expected before anything was measured, with the weight of one second. */
const FIRST_PER_SECOND = 48;
/** What was measured longer ago counts for a third. */
const MEMORY_MS = 5_000;
/** When the oldest push takes so long the stores stand still, whatever was measured before. */
const STUCK_MS = 1_500;
const COME_AGAIN_MS = 2_000;

/** @param now milliseconds of a clock that only goes on */
export function createPushAdmission(now: () => number = () => performance.now()): PushAdmission {
  /** When each push began to be read or stored, the oldest first. */
  const underWay = new Set<{ since: number }>();
  const ofAddress = new Map<string, number>();
  let done = FIRST_PER_SECOND;
  let busyMs = 1_000;
  /** The last moment up to which the busy time is counted; null: too few pushes are under way to measure by. */
  let countedTo: number | null = null;
  const inTurn = createLoopTurns(now);

  const isFull = (address: string): boolean => {
    if (underWay.size < MIN_PLACES) return false;
    const [oldest] = underWay;
    const places = Math.max(MIN_PLACES + MIN_PLACES_OF_OTHERS, (done / busyMs) * WAIT_MS);
    return (
      underWay.size >= places ||
      (ofAddress.get(address) ?? 0) >= places * SHARE ||
      now() - (oldest?.since ?? 0) > STUCK_MS
    );
  };

  const ask = (address: string): void => {
    if (isFull(address))
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many pushes at once; try again soon.', {
        retryAfterMs: COME_AGAIN_MS,
        details: { message: 'More signals come than can be stored; nothing of this request is stored' },
      });
  };

  /** @param options.isLast the push is done with this work; one that fails is done in any case */
  const during = async <T>(
    address: string,
    work: () => Promise<T>,
    { isLast }: { isLast: boolean },
  ): Promise<T> => {
    const push = { since: now() };
    underWay.add(push);
    ofAddress.set(address, (ofAddress.get(address) ?? 0) + 1);
    if (underWay.size === MIN_PLACES) countedTo = push.since;
    let isDone = isLast;
    try {
      return await work();
    } catch (error) {
      isDone = true;
      throw error;
    } finally {
      underWay.delete(push);
      leave(address);
      if (isDone) count();
      if (underWay.size < MIN_PLACES) countedTo = null;
    }
  };

  const leave = (address: string): void => {
    const left = (ofAddress.get(address) ?? 0) - 1;
    if (left > 0) ofAddress.set(address, left);
    else ofAddress.delete(address);
  };

  /** A push is done: what has passed since the last one tells how long one takes. */
  const count = (): void => {
    if (countedTo === null) return;
    const at = now();
    const weight = Math.exp((countedTo - at) / MEMORY_MS);
    done = done * weight + 1;
    busyMs = busyMs * weight + (at - countedTo);
    countedTo = at;
  };

  return {
    ask,
    read: async (address, work) => {
      ask(address);
      return during(address, () => inTurn(work), { isLast: false });
    },
    store: (address, work) => during(address, work, { isLast: true }),
  };
}
