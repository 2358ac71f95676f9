/** Rounds of the event loop between two pieces of work. */
const ROUNDS = 8;
/** Beyond so many, rounds that others fill are not waited for: the work would wait for every chat and search. */
const MIN_ROUNDS = 4;
const GIVE_WAY_MS = 4;

/**
 * A queue for work that takes milliseconds of the processor: what comes together is not done in one round of the event
 * loop, but each piece in a turn that no other has, the first to come first. libuv accepts one connection a round:
 * those that wait to be refused, or to ask how we are, go before the next piece. All others together are given as much
 * time as the piece before took.
 * @param now milliseconds of a clock that only goes on
 */
export function createLoopTurns(
  now: () => number = () => performance.now(),
): <T>(work: () => T) => Promise<T> {
  let turn: Promise<void> = Promise.resolve();
  let lastMs = 0;

  const giveWay = async (): Promise<void> => {
    const until = now() + Math.max(GIVE_WAY_MS, lastMs);
    for (let round = 0; round < ROUNDS && (round < MIN_ROUNDS || now() < until); round += 1)
      await new Promise((resolve) => setImmediate(resolve));
  };

  return async (work) => {
    turn = turn.then(giveWay);
    await turn;
    const from = now();
    const done = work();
    lastMs = now() - from;
    return done;
  };
}
