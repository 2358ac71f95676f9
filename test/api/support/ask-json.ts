import type { LooseBody } from './loose-body.js';
import type { Gateway } from './start-gateway.js';

/** Sends a body as JSON, where there is one, and gives status and body of the answer; an empty body is ''. */
export async function askJson(
  gateway: Gateway,
  method: string,
  path: string,
  { body, token }: { body?: unknown; token: string },
): Promise<[number, LooseBody]> {
  const response = await gateway.call(method, path, {
    token,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}
