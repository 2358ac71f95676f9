import { AppError } from '../../schemas/app-error.js';
import type { Embedder } from '../ports/models.js';
import { ProviderFailure } from './servers/provider-failure.js';

/** Documents that become ready within this time of each other share a request, where none is under way. */
const WINDOW_MS = 5;

interface Waiting {
  texts: readonly string[];
  signal: AbortSignal | undefined;
  resolve(vectors: number[][]): void;
  reject(error: unknown): void;
}

/** What says nothing about the texts: asking again with fewer of them would only cost time. */
function isServersState(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  if (error.code === 'CIRCUIT_BREAKER_OPEN' || error.code === 'INFERENCE_REFUSED') return true;
  return error.cause instanceof ProviderFailure && error.cause.kind === 'connection';
}

/**
 * The same embedder, which sends the few texts of several small documents in one request: a model takes a batch in
 * half the time of its texts one by one. What comes while a request is under way goes with the next one, so that
 * batches are as large as there is work and nobody waits for company for longer than a request takes.
 *
 * A joint request that is refused is made again for each document by itself, so that one bad text fails alone. Many
 * texts of one document, and questions, are sent as they come.
 *
 * @param size texts of one joint request
 */
export function createJointEmbedder(embedder: Embedder, size: number): Embedder {
  let waiting: Waiting[] = [];
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;

  const alone = async ({ texts, signal, resolve, reject }: Waiting): Promise<void> => {
    try {
      resolve(await embedder.embed(texts, { kind: 'document', ...(signal && { signal }) }));
    } catch (error) {
      reject(error);
    }
  };

  const together = async (joined: readonly Waiting[]): Promise<void> => {
    const nobodyLeft = new AbortController();
    const leave = (): void => {
      if (joined.every(({ signal }) => signal?.aborted === true)) nobodyLeft.abort();
    };
    for (const { signal } of joined) signal?.addEventListener('abort', leave);
    try {
      const texts = joined.flatMap((one) => one.texts);
      const vectors = await embedder.embed(texts, { kind: 'document', signal: nobodyLeft.signal });
      let from = 0;
      for (const one of joined) one.resolve(vectors.slice(from, (from += one.texts.length)));
    } catch (error) {
      if (nobodyLeft.signal.aborted || isServersState(error)) for (const one of joined) one.reject(error);
      else await Promise.all(joined.map(alone));
    } finally {
      for (const { signal } of joined) signal?.removeEventListener('abort', leave);
    }
  };

  const take = (): Waiting[] => {
    const taken: Waiting[] = [];
    let texts = 0;
    while (waiting.length > 0 && (taken.length === 0 || texts + waiting[0]!.texts.length <= size)) {
      const [next] = waiting.splice(0, 1);
      taken.push(next!);
      texts += next!.texts.length;
    }
    return taken;
  };

  const send = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const joined = take();
    if (joined.length === 0) return;
    underWay += 1;
    const [only, second] = joined;
    await (second === undefined ? alone(only!) : together(joined));
    underWay -= 1;
    void send();
  };

  const join = async (texts: readonly string[], signal: AbortSignal | undefined): Promise<number[][]> => {
    signal?.throwIfAborted();
    let leave = (): void => undefined;
    try {
      return await new Promise<number[][]>((resolve, reject) => {
        const own: Waiting = { texts, signal, resolve, reject };
        leave = () => {
          waiting = waiting.filter((one) => one !== own);
          reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', leave, { once: true });
        waiting.push(own);
        const full = waiting.reduce((sum, one) => sum + one.texts.length, 0) >= size;
        if (full) void send();
        else if (underWay === 0) timer ??= setTimeout(() => void send(), WINDOW_MS);
      });
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  };

  return {
    ...embedder,
    embed: (texts, options) =>
      options.kind === 'query' || texts.length === 0 || texts.length > size / 2
        ? embedder.embed(texts, options)
        : join(texts, options.signal),
  };
}
