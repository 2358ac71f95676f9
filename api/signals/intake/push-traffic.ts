/** Which pushes are being stored right now, so that what can wait may let them pass. */
export interface PushTraffic {
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves as soon as no push is being stored, and at the latest after so many milliseconds. */
  lull(withinMs: number): Promise<void>;
}

export const createPushTraffic = (): PushTraffic => {
  let pushes = 0;
  const waiting = new Set<() => void>();
  return {
    async during(work) {
      pushes += 1;
      try {
        return await work();
      } finally {
        pushes -= 1;
        if (pushes === 0) for (const go of [...waiting]) go();
      }
    },
    async lull(withinMs) {
      if (pushes === 0) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        };
        const timer = setTimeout(go, withinMs);
        waiting.add(go);
      });
    },
  };
};
