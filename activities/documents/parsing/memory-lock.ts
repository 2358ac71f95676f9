/** Work that shares the memory, and work that has it for itself. */
export interface MemoryLock {
  /** Waits while something has all of it, or waits for that. Gives back how to let go. @throws the signal's reason */
  share(signal: AbortSignal): Promise<() => void>;
  /** Waits until it is not shared. @throws the signal's reason */
  takeAll(signal: AbortSignal): Promise<() => void>;
}

export function createMemoryLock(): MemoryLock {
  let sharing = 0;
  let alone = 0;
  let waitingForAll = 0;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of [...waiting]) look();
  };

  const when = (isFree: () => boolean, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        waiting.delete(look);
        signal.removeEventListener('abort', look);
      };
      const look = (): void => {
        if (signal.aborted) {
          end();
          reject(signal.reason as Error);
        } else if (isFree()) {
          end();
          resolve();
        }
      };
      waiting.add(look);
      signal.addEventListener('abort', look);
      look();
    });

  return {
    async share(signal) {
      const isFree = (): boolean => alone === 0 && waitingForAll === 0;
      await when(() => isFree() && ++sharing > 0, signal);
      return () => {
        sharing--;
        wake();
      };
    },
    async takeAll(signal) {
      waitingForAll++;
      try {
        await when(() => sharing === 0 && alone === 0 && ++alone > 0, signal);
      } finally {
        waitingForAll--;
        wake();
      }
      return () => {
        alone--;
        wake();
      };
    },
  };
}
