import { WebSocket, request } from 'undici';
import { until } from './until.js';

/** What `node` needs at its start, so that `liveHeapMb` finds it later. */
export function inspectable(port: number): { NODE_OPTIONS: string } {
  return {
    NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}`,
  };
}

async function inspectorUrl(port: number): Promise<string | null> {
  try {
    const { body } = await request(`http://127.0.0.1:${port}/json/list`);
    const [target] = (await body.json()) as { webSocketDebuggerUrl: string }[];
    return target?.webSocketDebuggerUrl ?? null;
  } catch {
    return null;
  }
}

/**
 * What a Node process holds on to, in MB: its heap and the buffers outside of it after a full collection. The memory of
 * the process itself says less, since V8 takes more while there is some and gives it back late.
 */
export async function liveHeapMb(pid: number, port: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  let url: string | null = null;
  await until('the inspector answers', async () => (url = await inspectorUrl(port)) !== null, {
    withinMs: 10_000,
  });
  const socket = new WebSocket(url!);
  const answers = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: unknown };
    if (id !== undefined) answers.get(id)?.(result);
  });
  let asked = 0;
  const ask = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      const id = (asked += 1);
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  try {
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    await ask('HeapProfiler.enable');
    // What finalisers let go in the first round is collected in the second.
    for (let round = 0; round < 2; round += 1) await ask('HeapProfiler.collectGarbage');
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    const { result } = (await ask('Runtime.evaluate', { expression })) as { result: { value: number } };
    return result.value / 1024 / 1024;
  } finally {
    socket.close();
  }
}
