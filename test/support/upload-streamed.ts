import { request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { RunningStack } from './running-stack.js';

const BOUNDARY = 'streamed-by-a-test';

/**
 * Uploads a file that is generated on the way: neither the test nor the gateway ever needs it whole.
 * @param content chunks of the file; taken only as fast as the gateway reads
 */
export async function uploadStreamed(
  stack: Pick<RunningStack, 'base' | 'token'>,
  path: string,
  filename: string,
  content: Iterable<string | Buffer>,
): Promise<{ status: number; body: { task_status_url: string } }> {
  const outgoing = request(`${stack.base}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.token}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    },
  });
  const answered = new Promise<{ status: number; body: { task_status_url: string } }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode!, body: JSON.parse(body) as never }),
        reject,
      );
    });
  });
  const form = function* (): Generator<string | Buffer> {
    yield `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n\r\n`;
    yield* content;
    yield `\r\n--${BOUNDARY}--\r\n`;
  };
  const [answer] = await Promise.all([answered, pipeline(Readable.from(form()), outgoing)]);
  return answer;
}

const MEGABYTE = 1024 * 1024;
const WORDS = 'the tide turns the wheel and the wheel turns the stone that grinds the grain ';

/** So many megabytes of text, one at a time; no two of them are the same. */
export function* megabytesOfText(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) {
    const chunk = Buffer.alloc(MEGABYTE, WORDS);
    chunk.write(`\n\nMegabyte ${index}: `, 0);
    yield chunk;
  }
}
