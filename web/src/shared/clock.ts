const STEP_MS = 20_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let steps = 0;

function step(): void {
  steps++;
  for (const listener of listeners) listener();
}

/** A page that is not seen rests; once it is seen again its times are drawn at once. */
function followPage(): void {
  clearInterval(timer);
  timer = undefined;
  if (document.hidden) return;
  step();
  timer = setInterval(step, STEP_MS);
}

/** One clock for all times in words of a page, which age also where nothing else of the page changes. */
export const pageClock = {
  subscribe(listener: () => void): () => void {
    if (listeners.size === 0) {
      document.addEventListener('visibilitychange', followPage);
      if (!document.hidden) timer = setInterval(step, STEP_MS);
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      document.removeEventListener('visibilitychange', followPage);
      clearInterval(timer);
      timer = undefined;
    };
  },
  /** How often it has stepped. */
  current: (): number => steps,
};
