import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createExtractiveModel } from '../../../../activities/models/builtin/extractive-model.js';
import type { ChatMessage } from '../../../../activities/ports/models.js';
import { shownSources } from '../../../../activities/retrieval/chat/chat-sources.js';
import type { ChatSource } from '../../../../activities/retrieval/chat/chat-sources.js';
import { AppError } from '../../../../schemas/app-error.js';
import { untilLetGo } from '../../../support/collect-garbage.js';
import { VALVE, openChatStage, say } from './chat-stage.js';
import type { Script } from './chat-stage.js';
import { makeResult } from '../fixtures.js';

const setUp = openChatStage;

function cites(sources: readonly ChatSource[]): string[] {
  return sources.map((source) => ('chunk' in source ? source.chunk.chunk_id : source.url));
}

describe('createChatService', () => {
  test.each([
    ['of what was found', { topN: 5 }, 'The valve opens at 4 bar.', 8192],
    ['of what does not fit into the prompt', { topN: 20 }, 'The valve opens at 4 bar. '.repeat(80), 4096],
  ])('holds its sources alone %s while an answer is streamed', async (_of, settings, text, contextTokens) => {
    const held: WeakRef<object>[] = [];
    const found = () => {
      const results = Array.from({ length: 20 }, (_, index) => makeResult({ chunk_id: `${index}`, text }));
      held.push(...results.map((result) => new WeakRef<object>(result)));
      return results;
    };
    let goOn = (): void => undefined;
    const waits = new Promise<void>((resolve) => (goOn = resolve));
    const { respond } = setUp(
      async function* () {
        yield { content: 'The valve opens at 4 bar. It is checked once a year by those who run the mill.' };
        await waits;
        yield* say(' [Sources: 1]');
      },
      { found, settings, contextTokens },
    );
    const stream = respond();
    expect(await stream.next()).toMatchObject({ value: { type: 'delta' } });
    const next = stream.next();
    await untilLetGo(held, 5);
    goOn();
    await next;
    let presented = 0;
    for await (const event of stream) if (event.type === 'end') presented = event.sources.presented.length;
    expect(presented).toBeGreaterThan(0);
    expect(presented).toBeLessThanOrEqual(5);
  });

  test('leaves out addresses that no source holds, also one that comes in pieces', async () => {
    const found = [
      makeResult({ chunk_id: 'one', text: 'Manual: https://docs.example/valve. It opens at 4 bar.' }),
    ];
    const pieces = [
      'It opens at 4 bar ![i](htt',
      'ps://evil.exam',
      'ple/?d=4bar) [Source 1], see https://docs.example/valve.',
    ];
    const { collect } = setUp(
      async function* () {
        for (const content of pieces)
          yield { content, logprobs: [{ token: content, logprob: 0, bytes: null, top: [] }] };
        yield { content: '\n[Sources: 1]', finishReason: 'stop' };
      } as Script,
      { found },
    );
    const { text, end, events } = await collect();
    expect(text).toBe('It opens at 4 bar [i]([link removed]) [Source 1], see https://docs.example/valve.');
    expect(end).toMatchObject({ linksRemoved: 1 });
    expect(cites(end.sources.cited)).toEqual(['one']);
    expect(JSON.stringify(events)).not.toContain('evil');
  });

  test('keeps addresses that a tool of the client came to, and none of earlier answers', async () => {
    const { collect } = setUp(() => say('See https://example.org/tool or https://example.org/earlier.'));
    const { text } = await collect({
      messages: [
        { role: 'user', content: 'Which page is it?' },
        { role: 'assistant', content: 'https://example.org/earlier' },
        { role: 'tool', content: '{"url":"https://example.org/tool"}' },
      ],
    });
    expect(text).toBe('See https://example.org/tool or [link removed].');
  });

  test('an answer to nothing but the messages keeps its addresses', async () => {
    const { collect } = setUp(() => say('See https://example.org/x'));
    const { text, end } = await collect({ target: { kind: 'direct' } });
    expect(text).toBe('See https://example.org/x');
    expect(end).not.toHaveProperty('linksRemoved');
  });

  test('retrieves for the last user message and puts the sources into the first system message', async () => {
    const { collect, seen, searched } = setUp(() => say('It opens at 4 bar [Source 1].\n\n[Sources: 1]'));
    const messages: ChatMessage[] = [
      { role: 'system', content: 'Speak like a pirate.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Ahoy' },
      { role: 'user', content: 'At what pressure does the valve open?' },
    ];
    const { text, end } = await collect({
      messages,
      temperature: 0.1,
      topP: 0.9,
      stop: ['X'],
      maxTokens: 99,
    });
    expect(text).toBe('It opens at 4 bar [Source 1].');
    expect(end).toMatchObject({
      finishReason: 'stop',
      truncated: false,
      usage: { promptTokens: 11, completionTokens: 7 },
    });
    expect(end).not.toHaveProperty('error');
    expect(cites(end.sources.presented)).toEqual(['one', 'two']);
    expect(cites(end.sources.cited)).toEqual(['one']);
    expect(end.sources.reported).toBe(true);
    expect(cites(shownSources(end.sources))).toEqual(['one']);
    expect(searched).toMatchObject([
      { partitions: ['public'], text: 'At what pressure does the valve open?', topK: 10 },
    ]);
    const [call] = seen;
    expect(call?.messages[0]?.role).toBe('system');
    expect(call?.messages[0]?.content).toContain('[Source 1] report.pdf, page 2\nThe valve opens at 4 bar.');
    // Some models take one system message alone.
    expect(call?.messages[0]?.content).toMatch(/\n\[End of sources\]\n\nSpeak like a pirate\.$/);
    expect(call?.messages.slice(1)).toEqual(messages.slice(1));
    expect(call?.options).toMatchObject({ temperature: 0.1, topP: 0.9, stop: ['X'], maxTokens: 99 });
  });

  test.each([
    ['no line at all', 'Four bar.', ['one', 'two'], false],
    ['none', 'I do not know.\n[Sources: none]', [], true],
    ['a number that is not in the prompt', 'Nine bar.\n[Sources: 9]', ['one', 'two'], true],
    ['both', 'Green, four bar.\n[sources: 2, 1, 7]', ['one', 'two'], true],
  ])('shows the right sources after %s', async (_case, answer, shown, reported) => {
    const { end } = await setUp(() => say(answer)).collect();
    expect(cites(shownSources(end.sources))).toEqual(shown);
    expect(end.sources.reported).toBe(reported);
  });

  test('goes straight to the model without retrieval, and cuts nothing off', async () => {
    const { collect, seen, searched } = setUp(() => say('Hi. [Sources: 1]'));
    const { text, end } = await collect({ target: { kind: 'direct' } });
    expect(text).toBe('Hi. [Sources: 1]');
    expect(end.sources).toMatchObject({ presented: [], cited: [], reported: false, none: false });
    expect(searched).toEqual([]);
    expect(seen[0]?.messages).toEqual([{ role: 'user', content: 'At what pressure does the valve open?' }]);
  });

  test('answers with the built-in model, and says so when nothing fits', async () => {
    const model = createExtractiveModel({ endpointName: 'builtin-extractive', contextTokens: 8192 });
    const { collect } = setUp(say as never, { model });
    const { text, end } = await collect();
    expect(text).toBe('The valve opens at 4 bar. [Source 1]');
    expect(cites(end.sources.cited)).toEqual(['one']);
    const other = await collect({ messages: [{ role: 'user', content: 'Who wrote Hamlet and Macbeth?' }] });
    expect(other.text).toBe('I found nothing about this in the sources.');
    expect(shownSources(other.end.sources)).toEqual([]);
    const empty = setUp(say as never, { model, found: [] });
    expect((await empty.collect()).text).toBe('I found nothing about this in the sources.');
    const direct = await collect({ target: { kind: 'direct' } });
    expect(direct.text).toMatch(/^This built-in model only quotes/);
  });

  test.each([[[]], [[{ role: 'assistant', content: 'x' }]], [[{ role: 'user', content: ' \n' }]]])(
    'refuses messages %j',
    async (messages) => {
      const { collect } = setUp(() => say('x'));
      await expect(collect({ messages: messages as ChatMessage[] })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        message: 'The last message must be a non-empty user message',
      });
    },
  );

  test.each([{ kind: 'direct' } as const, { kind: 'retrieval', partitions: 'all' } as const])(
    'refuses what is longer than the context before it searches: %j',
    async (target) => {
      const { collect, searched, seen } = setUp(() => say('x'), { contextTokens: 2000 });
      const long: ChatMessage[] = [{ role: 'user', content: 'word '.repeat(3000) }];
      const refusal = {
        code: 'CONTEXT_TOO_LONG',
        status: 413,
        message: /^Request exceeds maximum token limit\./,
      };
      const expected = { ...refusal, message: expect.stringMatching(refusal.message) };
      await expect(collect({ target, messages: long })).rejects.toMatchObject(expected);
      await expect(collect({ target, maxTokens: 2000 })).rejects.toMatchObject(expected);
      expect([...searched, ...seen]).toEqual([]);
      await expect(collect({ target, maxTokens: 1000 })).resolves.toBeDefined();
    },
  );

  test('fits the sources into what the messages leave', async () => {
    const found = Array.from({ length: 10 }, (_, index) =>
      makeResult({ chunk_id: `c${index}`, text: `Text ${index}. ${'word '.repeat(400)}` }),
    );
    const { collect } = setUp(() => say('x'), { found, contextTokens: 3000 });
    const { end } = await collect({ maxTokens: 500 });
    expect(end.sources.presented).toHaveLength(5);
  });

  test('sends fewer sources to a model that counts more tokens than we do', async () => {
    const long = VALVE.map(({ chunk, ...rest }) => ({
      ...rest,
      chunk: { ...chunk, text: `${chunk.text} `.repeat(90) },
    }));
    const tooLong = (messages: readonly ChatMessage[]) => (messages[0]?.content.length ?? 0) > 4500;
    async function* strict(messages: readonly ChatMessage[]) {
      if (tooLong(messages)) throw new AppError('CONTEXT_TOO_LONG');
      yield* say('The pump is green.');
    }
    const { collect, seen } = setUp(strict, { found: long, contextTokens: 4096 });
    const { end } = await collect();
    expect(end.sources.presented.length).toBeGreaterThan(0);
    expect(seen.length).toBeGreaterThan(1);
    expect(tooLong(seen.at(-1)?.messages ?? [])).toBe(false);
  });

  test('gives up on a model that no prompt is short enough for', async () => {
    const { collect, seen } = setUp(
      async function* () {
        throw new AppError('CONTEXT_TOO_LONG');
      },
      { contextTokens: 4096 },
    );
    await expect(collect()).rejects.toMatchObject({ code: 'CONTEXT_TOO_LONG', status: 413 });
    expect(seen.length).toBeLessThan(8);
  });

  test('throws what goes wrong before the first delta', async () => {
    const failing: Script = () => {
      throw new AppError('INFERENCE_CONNECTION_ERROR');
    };
    await expect(setUp(failing).collect()).rejects.toMatchObject({ code: 'INFERENCE_CONNECTION_ERROR' });
    const broken: Script = async function* () {
      throw new TypeError('terminated');
    };
    await expect(setUp(broken).collect()).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    const silent: Script = async function* () {};
    await expect(setUp(silent).collect()).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    const heldBack: Script = async function* () {
      yield { content: 'short' };
      throw new AppError('INFERENCE_TIMEOUT');
    };
    await expect(setUp(heldBack).collect()).rejects.toMatchObject({ code: 'INFERENCE_TIMEOUT' });
  });

  test.each([
    ['breaks off', new AppError('INFERENCE_TIMEOUT'), 'INFERENCE_TIMEOUT'],
    ['ends without a finish', null, 'INFERENCE_ERROR'],
  ])('ends truncated when the stream %s after the first delta', async (_case, error, code) => {
    const text = 'word '.repeat(60);
    const script: Script = async function* () {
      yield { content: text };
      if (error !== null) throw error;
    };
    const { text: shown, end } = await setUp(script).collect();
    expect(shown).toBe(text);
    expect(end).toMatchObject({ truncated: true, error: { code } });
    expect(end.usage.completionTokens).toBeGreaterThan(50);
    expect(cites(shownSources(end.sources))).toEqual(['one', 'two']);
  });

  describe('when the client leaves', () => {
    /** Says a few words, then thinks for ever; ends only when told to. */
    const endless = (log: string[], heedsSignal: boolean): Script =>
      async function* (_messages, { signal }) {
        try {
          yield { content: 'word '.repeat(60) };
          if (heedsSignal) await sleep(60_000, undefined, { ...(signal && { signal }) });
          else await new Promise(() => undefined);
        } finally {
          log.push('ended');
        }
      };

    test.each(['return', 'abort'])('stops the model at once on %s while it thinks', async (way) => {
      const log: string[] = [];
      const controller = new AbortController();
      const { respond, seen } = setUp(endless(log, true));
      const stream = respond({ signal: controller.signal });
      expect(await stream.next()).toMatchObject({ value: { type: 'delta' } });
      const pending = stream.next();
      const started = performance.now();
      if (way === 'return') await stream.return();
      else controller.abort(new Error('gone'));
      await pending;
      await sleep(5);
      expect(performance.now() - started).toBeLessThan(1000);
      expect(seen[0]?.options.signal?.aborted).toBe(true);
      expect(log).toEqual(['ended']);
    });

    test('does not wait for a model that heeds nothing', async () => {
      const controller = new AbortController();
      const { respond, seen } = setUp(endless([], false));
      const stream = respond({ signal: controller.signal });
      await stream.next();
      const pending = stream.next();
      controller.abort(new Error('gone'));
      // What was held back, then the end: a server that shuts down still closes its streams in good order.
      expect(await pending).toMatchObject({ value: { type: 'delta' } });
      expect(await stream.next()).toMatchObject({ value: { type: 'end', truncated: true } });
      expect(await stream.next()).toEqual({ value: undefined, done: true });
      expect(seen[0]?.options.signal?.aborted).toBe(true);
    });

    test('throws the reason when aborted before the first delta', async () => {
      const { collect, seen } = setUp(() => say('x'));
      await expect(collect({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
      expect(seen).toEqual([]);
    });

    test('leaving a for-await loop stops the model too', async () => {
      const log: string[] = [];
      const { respond } = setUp(endless(log, true));
      for await (const event of respond()) {
        expect(event.type).toBe('delta');
        break;
      }
      await sleep(5);
      expect(log).toEqual(['ended']);
    });
  });
});
