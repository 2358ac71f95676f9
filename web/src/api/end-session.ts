import { send, SESSION_PATH } from './client';

/** Signing out waits for so long at most: a server that answers nothing must not keep a person signed in. */
const WAIT_MS = 10_000;

const tasks = new Set<() => Promise<unknown>>();

/** Does what has to reach the server as the user who asked for it, before the session ends. */
export function beforeSignOut(task: () => Promise<unknown>): void {
  tasks.add(task);
}

/** @throws ApiError */
export async function endSession(): Promise<Response> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    Promise.allSettled([...tasks].map((task) => task())),
    new Promise((resolve) => (timer = setTimeout(resolve, WAIT_MS))),
  ]);
  clearTimeout(timer);
  return send(SESSION_PATH, { method: 'DELETE' });
}
