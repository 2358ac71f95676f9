import type { RunningStack } from './running-stack.js';

/** Sends a body as JSON, where there is one, and gives status and body of the answer; an empty body is null. */
export async function askStack<T>(
  stack: Pick<RunningStack, 'request'>,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: T }> {
  const response = await stack.request(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
}
