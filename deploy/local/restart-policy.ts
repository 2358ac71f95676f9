/** Seconds before each of the tries that are made within the window. */
const PAUSES = [0.5, 2, 5, 15, 30] as const;
const WINDOW_MS = 10 * 60_000;

export const MAX_TRIES = PAUSES.length;

/**
 * When a process that failed is started again: after growing pauses, at most five times in ten minutes, and at most
 * five times in a row without success, however long each try took.
 */
export class RestartPolicy {
  #tries: number[] = [];
  #failed = 0;

  /** Counts a try and returns the pause before it in seconds; null: no further try. */
  next(nowMs: number): number | null {
    this.#tries = this.#tries.filter((at) => nowMs - at < WINDOW_MS);
    const count = Math.max(this.#tries.length, this.#failed);
    const pause = PAUSES[count];
    if (pause === undefined) return null;
    this.#tries.push(nowMs);
    this.#failed += 1;
    return pause;
  }

  /** The last try succeeded. */
  succeeded(): void {
    this.#failed = 0;
  }
}
