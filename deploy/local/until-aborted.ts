/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    // a pending promise alone does not keep the process alive
    const alive = setInterval(() => undefined, 60_000);
    const end = () => {
      clearInterval(alive);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}
