import { describe, expect, test } from '@jest/globals';
import type { ChatDelta, ChatMessage, LanguageModel } from '../../../activities/ports/models.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const QUESTION: ChatMessage[] = [{ role: 'user', content: 'Say in a few words what a mill is for.' }];

async function collect(stream: AsyncIterable<ChatDelta>): Promise<ChatDelta[]> {
  const deltas = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

/** What every language model holds to, whatever it runs on. Structure only: nothing about what it says. */
export function languageModelContract(subject: Subject<LanguageModel>): void {
  describe(`language model (${subject.name})`, () => {
    const model = useSubject(subject);

    test('tells what it is', () => {
      expect(model().endpointName).not.toBe('');
      expect(model().modelName).not.toBe('');
      expect(model().contextTokens).toBeGreaterThan(0);
    });

    test('streams its answer, and finishes once, at the end', async () => {
      const deltas = await collect(model().stream(QUESTION, { temperature: 0, maxTokens: 40 }));
      expect(deltas.map(({ content }) => content).join('')).not.toBe('');
      expect(deltas.filter(({ finishReason }) => finishReason !== undefined)).toHaveLength(1);
      expect(['stop', 'length']).toContain(deltas.at(-1)?.finishReason);
      expect(deltas.at(-1)?.usage?.completionTokens).toBeGreaterThan(0);
      expect(deltas.at(-1)?.usage?.promptTokens).toBeGreaterThan(0);
    });

    test('answers as a whole', async () => {
      const reply = await model().complete(QUESTION, { temperature: 0, maxTokens: 40 });
      expect(reply.content).not.toBe('');
      expect(['stop', 'length']).toContain(reply.finishReason);
      expect(reply.usage?.completionTokens).toBeGreaterThan(0);
    });

    test('takes a conversation with a system message and any text', async () => {
      const messages: ChatMessage[] = [
        { role: 'system', content: 'Answer briefly. “Zürich” – 東京 x\ud800y' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hello.' },
        ...QUESTION,
      ];
      const { finishReason } = await model().complete(messages, {
        temperature: 0.3,
        topP: 0.9,
        maxTokens: 8,
      });
      expect(['stop', 'length']).toContain(finishReason);
    });

    test('rejects with the reason of a signal that has aborted, before and after the first word', async () => {
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(collect(model().stream(QUESTION, { signal }))).rejects.toThrow('enough');
      await expect(model().complete(QUESTION, { signal })).rejects.toThrow('enough');
      const controller = new AbortController();
      const read = async (): Promise<void> => {
        for await (const _delta of model().stream(QUESTION, { signal: controller.signal, maxTokens: 200 }))
          controller.abort(new Error('enough'));
      };
      await expect(read()).rejects.toThrow('enough');
    });

    test('can be left after the first word, and asked again', async () => {
      for await (const _delta of model().stream(QUESTION, { maxTokens: 200 })) break;
      const reply = await model().complete(QUESTION, { maxTokens: 8 });
      expect(reply.content.length).toBeGreaterThan(0);
    });
  });
}
