import { WebSocket, request } from 'undici';
import { until } from './until.js';

/** What `node` needs at its start, so that `openInspector` finds it later. */
export function inspectable(port: number): { NODE_OPTIONS: string } {
  return {
    NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}`,
  };
}

export interface Inspector {
  /** A command of the DevTools protocol; source: chromedevtools.github.io/devtools-protocol/v8. */
  ask<Answer>(method: string, params?: object): Promise<Answer>;
  close(): void;
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

/** Has a Node process that was started `inspectable` open its inspector, and speaks to its main thread. */
export async function openInspector(pid: number, port: number): Promise<Inspector> {
  process.kill(pid, 'SIGUSR1');
  let url: string | null = null;
  await until('the inspector answers', async () => (url = await inspectorUrl(port)) !== null, {
    withinMs: 10_000,
  });
  const socket = new WebSocket(url!);
  const answers = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: unknown };
    if (id === undefined) return;
    answers.get(id)?.(result);
    answers.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let asked = 0;
  return {
    ask: <Answer>(method: string, params: object = {}) =>
      new Promise<Answer>((resolve) => {
        const id = (asked += 1);
        answers.set(id, (result) => resolve(result as Answer));
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
}
