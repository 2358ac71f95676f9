import { Readable } from 'node:stream';
import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { AppError } from '../../schemas/app-error.js';
import type { Downloads } from '../ports/downloads.js';
import { isBlocked } from './address-guard.js';

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MEBIBYTE = 1024 * 1024;

function failed(text: string, cause?: unknown): AppError {
  return new AppError('DOWNLOAD_FAILED', text, { cause });
}

function refused(text?: string, cause?: unknown): AppError {
  return new AppError('DOWNLOAD_REFUSED', text, { cause });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The document is larger than the ${Math.floor(maxBytes / MEBIBYTE)} MiB that may be fetched.`,
  );
}

/** An address of the web, without a name and password in it: they would be sent along. */
function webUrl(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw refused('The address must be http:// or https://, without a user name.');
  url.hash = '';
  return url;
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | null {
  return [headers[name] ?? []].flat()[0] ?? null;
}

/** `filename*` of RFC 5987 in UTF-8, or `filename`; null when there is none. */
function dispositionName(header: string | null): string | null {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header ?? '')?.[1];
  const decoded = extended === undefined ? null : decode(extended);
  if (decoded !== null) return decoded;
  const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header ?? '');
  return plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2] ?? null;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function pathName({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  return decode(last) ?? last;
}

/** What came, within the limit; whatever ends it early is told in our words. */
async function* bounded(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  told: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const part of body) {
      size += part.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield part;
    }
  } catch (error) {
    throw told(error);
  }
}

/** Asks, and goes where the answer points; each address is looked at by the dispatcher. */
async function follow(
  first: URL,
  options: { dispatcher: Dispatcher; signal: AbortSignal; timeoutMs: number },
): Promise<{ answer: Dispatcher.ResponseData; url: URL }> {
  const { dispatcher, signal, timeoutMs } = options;
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const answer = await request(url, {
      method: 'GET',
      dispatcher,
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'tamis' },
    });
    const location = REDIRECTS.has(answer.statusCode) ? headerOf(answer, 'location') : null;
    if (location === null) return { answer, url };
    // What it says beside is of no interest.
    answer.body.on('error', () => undefined).destroy();
    url = webUrl(location, url);
  }
  throw failed(`The address redirects more than ${MAX_REDIRECTS} times.`);
}

/** Why an answer is no document; null when it is one. */
function faultOf(answer: Dispatcher.ResponseData, size: number | null, maxBytes: number): AppError | null {
  if (answer.statusCode !== 200) return failed(`The address answered ${answer.statusCode}.`);
  const encoding = headerOf(answer, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') return failed('The document came in an encoding that was not asked for.');
  return size !== null && size > maxBytes ? tooLarge(maxBytes) : null;
}

/** @param dispatcher guarded, since the addresses are clients'; it goes with this */
export function createDownloads(dispatcher: Dispatcher): Downloads {
  return {
    async open(address, { maxBytes, timeoutMs, signal }) {
      const first = webUrl(address);
      const limit = AbortSignal.timeout(timeoutMs);
      const told = (error: unknown): unknown => {
        if (signal.aborted) return signal.reason;
        if (error instanceof AppError) return error;
        if (isBlocked(error)) return refused(undefined, error);
        if (limit.aborted)
          return failed(`The document did not come within ${timeoutMs / 1000} seconds.`, error);
        // Nothing of what the network said: it would tell apart what is closed from what is not there.
        return failed('The address gave no answer, or broke off.', error);
      };
      try {
        const { answer, url } = await follow(first, {
          dispatcher,
          timeoutMs,
          signal: AbortSignal.any([signal, limit]),
        });
        const announced = Number(headerOf(answer, 'content-length') ?? NaN);
        const size = Number.isSafeInteger(announced) ? announced : null;
        const fault = faultOf(answer, size, maxBytes);
        if (fault !== null) {
          answer.body.on('error', () => undefined).destroy();
          throw fault;
        }
        return {
          name: dispositionName(headerOf(answer, 'content-disposition')) ?? pathName(url),
          mimetype: headerOf(answer, 'content-type'),
          size,
          body: Readable.from(bounded(answer.body as AsyncIterable<Buffer>, maxBytes, told), {
            objectMode: false,
          }),
        };
      } catch (error) {
        throw told(error);
      }
    },
    close: () => dispatcher.destroy(),
  };
}
