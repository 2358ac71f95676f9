/** Rejects when the signal aborts; never resolves. `dispose` lets go of the signal. */
export const rejectOnAbort = (signal: AbortSignal): { promise: Promise<never>; dispose: () => void } => {
  let dispose = (): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    dispose = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  // Whoever races it hears of it; between two races nobody does, and that is no unhandled rejection.
  promise.catch(() => undefined);
  return { promise, dispose };
};
