const EVERY_MS = 100;
const MAX_WAIT_MS = 1_000;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Asks a gateway of this process for its health every 100 ms while `work` runs, and fails when an answer took longer
 * than a second in which the process was at work itself: a machine that has no time for us is no fault of ours.
 */
export async function watchHealth<T>(gateway: { url: string }, work: () => Promise<T>): Promise<T> {
  let ended = false;
  let longest = { ms: 0, cpu: 0 };
  const probe = async (): Promise<void> => {
    const started = Date.now();
    const before = cpuMs();
    const response = await fetch(`${gateway.url}/health_check`);
    await response.text();
    const cpu = cpuMs() - before;
    if (response.status !== 200) throw new Error(`health was answered ${response.status}`);
    if (cpu > longest.cpu) longest = { ms: Date.now() - started, cpu };
  };
  const watch = (async () => {
    while (!ended) {
      await probe();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await probe();
  })();
  try {
    const [result] = await Promise.all([work().finally(() => (ended = true)), watch]);
    if (longest.cpu > MAX_WAIT_MS && longest.ms > MAX_WAIT_MS)
      throw new Error(
        `health waited ${Math.round(longest.ms)} ms, ${Math.round(longest.cpu)} ms of them at work`,
      );
    return result;
  } finally {
    ended = true;
    await watch.catch(() => undefined);
  }
}
