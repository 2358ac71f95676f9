import { describe, expect, it } from '@jest/globals';
import { createJointEmbedder } from '../../../activities/models/joint-embedder.js';
import { ProviderFailure } from '../../../activities/models/servers/provider-failure.js';
import type { Embedder } from '../../../activities/ports/models.js';
import { AppError } from '../../../schemas/app-error.js';
import { until } from '../../support/until.js';

interface Call {
  texts: readonly string[];
  kind: string;
  signal: AbortSignal | undefined;
  answer(): void;
  fail(error: unknown): void;
}

/** An embedder whose answers a test gives; a text's vector is its own length. */
function scripted(size = 8, { joinsQuestions = false } = {}) {
  const calls: Call[] = [];
  const embedder: Embedder = {
    endpointName: 'default',
    modelName: 'scripted',
    dimension: 1,
    vectorField: 'vector_scripted',
    batchSize: size,
    maxInputTokens: null,
    embed: (texts, { kind, signal }) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        calls.push({
          texts,
          kind,
          signal,
          answer: () => resolve(texts.map((text) => [text.length])),
          fail: reject,
        });
      }),
  };
  const joint = createJointEmbedder(embedder, { size, joinsQuestions });
  return {
    calls,
    embed: (texts: readonly string[], signal?: AbortSignal) =>
      joint.embed(texts, { kind: 'document', ...(signal && { signal }) }),
    ask: (text: string, signal?: AbortSignal) =>
      joint.embed([text], { kind: 'query', ...(signal && { signal }) }),
    called: (count: number) => until(`${count} calls`, async () => calls.length >= count),
  };
}

const REFUSED = new AppError('EMBEDDING_RESPONSE_ERROR', 'a text is refused');

describe('an embedder for the texts of several documents', () => {
  it('sends what comes together in one request, and gives each its own vectors', async () => {
    const { calls, embed, called } = scripted();
    const answers = Promise.all([embed(['a', 'bb']), embed(['ccc']), embed(['dddd'])]);
    await called(1);
    expect(calls[0]!.texts).toEqual(['a', 'bb', 'ccc', 'dddd']);
    calls[0]!.answer();
    expect(await answers).toEqual([[[1], [2]], [[3]], [[4]]]);
    expect(calls).toHaveLength(1);
  });

  it('lets what comes while a request is under way go with the next one', async () => {
    const { calls, embed, called } = scripted();
    const first = embed(['a']);
    await called(1);
    const others = [embed(['bb']), embed(['ccc'])];
    calls[0]!.answer();
    await first;
    await called(2);
    expect(calls[1]!.texts).toEqual(['bb', 'ccc']);
    calls[1]!.answer();
    expect(await Promise.all(others)).toEqual([[[2]], [[3]]]);
  });

  it('sends no more than its size at once, and does not wait once that is reached', async () => {
    const { calls, embed, called } = scripted(4);
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map((text) => embed([text])));
    await called(1);
    expect(calls[0]!.texts).toEqual(['a', 'b', 'c', 'd']);
    calls[0]!.answer();
    await called(2);
    expect(calls[1]!.texts).toEqual(['e']);
    calls[1]!.answer();
    expect(await answers).toHaveLength(5);
  });

  it('sends questions, and many texts of one document, as they come', async () => {
    const { calls, embed, ask } = scripted(4);
    const answers = [ask('what'), embed(['a', 'b', 'c'])];
    expect(calls.map(({ texts, kind }) => [texts.length, kind])).toEqual([
      [1, 'query'],
      [3, 'document'],
    ]);
    for (const call of calls) call.answer();
    await Promise.all(answers);
  });

  it('lets questions that come during another go together, where the server takes one request at a time', async () => {
    const { calls, embed, ask, called } = scripted(4, { joinsQuestions: true });
    const first = ask('w');
    // At once: a question does not wait for others to come.
    expect(calls.map(({ texts }) => texts)).toEqual([['w']]);
    const others = ['wh', 'wha', 'what'].map((question) => ask(question));
    const documents = embed(['a', 'b', 'c']);
    expect(calls.map(({ texts, kind }) => [texts.length, kind])).toEqual([
      [1, 'query'],
      [3, 'document'],
    ]);
    calls[0]!.answer();
    expect(await first).toEqual([[1]]);
    await called(3);
    expect(calls[2]).toMatchObject({ texts: ['wh', 'wha', 'what'], kind: 'query' });
    calls[2]!.answer();
    expect(await Promise.all(others)).toEqual([[[2]], [[3]], [[4]]]);
    calls[1]!.answer();
    await documents;
  });

  it('lets a question that its client no longer waits for leave the others alone', async () => {
    const { calls, ask, called } = scripted(4, { joinsQuestions: true });
    const gone = new AbortController();
    const first = ask('w');
    const [left, stays] = [ask('wh', gone.signal).catch((error: unknown) => error), ask('wha')];
    gone.abort(new Error('gone'));
    expect(await left).toEqual(new Error('gone'));
    calls[0]!.answer();
    await called(2);
    expect(calls[1]!.texts).toEqual(['wha']);
    calls[1]!.answer();
    expect(await Promise.all([first, stays])).toEqual([[[1]], [[3]]]);
  });

  it('tries each document by itself when a joint request is refused: one bad text fails alone', async () => {
    const { calls, embed, called } = scripted();
    const good = embed(['good']);
    const bad = embed(['bad']).catch((error: unknown) => error);
    await called(1);
    calls[0]!.fail(REFUSED);
    await called(3);
    for (const call of calls.slice(1))
      if (call.texts[0] === 'bad') call.fail(REFUSED);
      else call.answer();
    expect(await good).toEqual([[4]]);
    expect(await bad).toBe(REFUSED);
  });

  it('asks a server that is away no more often than once', async () => {
    const { calls, embed, called } = scripted();
    const away = new AppError('EMBEDDING_API_ERROR', undefined, {
      cause: new ProviderFailure('connection', 'refused'),
    });
    const failures = Promise.all([embed(['a']), embed(['b'])].map((one) => one.catch((e: unknown) => e)));
    await called(1);
    calls[0]!.fail(away);
    expect(await failures).toEqual([away, away]);
    expect(calls).toHaveLength(1);
  });

  it('lets one document go without the others, and stops when all have gone', async () => {
    const { calls, embed, called } = scripted();
    const [leaving, last] = [new AbortController(), new AbortController()];
    const gone = embed(['a'], leaving.signal).catch((error: unknown) => error);
    const stays = embed(['bb'], last.signal);
    await called(1);
    leaving.abort(new Error('cancelled'));
    expect(await gone).toEqual(new Error('cancelled'));
    expect(calls[0]!.signal?.aborted).toBe(false);
    calls[0]!.answer();
    expect(await stays).toEqual([[2]]);

    const both = [embed(['c'], AbortSignal.any([last.signal])), embed(['d'], last.signal)].map((one) =>
      one.catch(() => 'gone'),
    );
    await called(2);
    last.abort();
    expect(await Promise.all(both)).toEqual(['gone', 'gone']);
    expect(calls[1]!.signal?.aborted).toBe(true);
  });

  it('does not send a text whose document has gone before', async () => {
    const { calls, embed, called } = scripted();
    const leaving = new AbortController();
    const gone = embed(['a'], leaving.signal).catch(() => 'gone');
    const stays = embed(['bb']);
    leaving.abort();
    expect(await gone).toBe('gone');
    await called(1);
    expect(calls[0]!.texts).toEqual(['bb']);
    calls[0]!.answer();
    expect(await stays).toEqual([[2]]);
  });
});
