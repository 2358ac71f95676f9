import { describe, expect, test } from '@jest/globals';
import { openChatStage, say } from './chat-stage.js';

describe('a follow-up', () => {
  const FOLLOW_UP = { role: 'user' as const, content: 'And for the other one?' };
  const messages = [
    { role: 'user' as const, content: 'How long is the warranty of the X200 pump?' },
    { role: 'assistant' as const, content: 'Two years.' },
    FOLLOW_UP,
  ];
  /** Tells of excerpts what a model can that sees the question alone. */
  const complete = (asked: readonly { content: string }[]): string => {
    const last = asked.at(-1)?.content ?? '';
    if (!last.includes('Excerpt:'))
      return JSON.stringify({ queries: [{ query: 'warranty of the X300 pump' }] });
    return JSON.stringify({ relevant: last.includes('X300 pump'), summary: 'Five years.' });
  };
  const openWeb = () => {
    const asked: string[] = [];
    const search = async (query: string) => {
      asked.push(query);
      return [];
    };
    return { asked, adapters: { web: { search } } };
  };

  test('is evaluated for with the meaning that its conversation gives it', async () => {
    const stage = openChatStage(() => say('Green.'), { complete });
    const { end } = await stage.collect({ messages, mapReduce: true });
    expect(end.sources.presented).toHaveLength(2);
    expect(stage.asides.map((aside) => aside.at(-1)?.content)).toContainEqual(
      expect.stringMatching(
        /^Question: And for the other one\? \(that is: warranty of the X300 pump\)\n\nExcerpt:/,
      ),
    );
  });

  test('is looked for in the web by that meaning, with documents and without', async () => {
    for (const over of [{}, { target: { kind: 'direct' as const } }]) {
      const { asked, adapters } = openWeb();
      const { collect } = openChatStage(() => say('Green.'), { complete, adapters });
      await collect({ messages, webSearch: true, ...over });
      expect(asked).toEqual(['warranty of the X300 pump']);
    }
  });

  test('is looked for in the web by its own words where there is no rewriting, or no conversation', async () => {
    for (const [over, given] of [
      [{ bypassRewriting: true }, messages],
      [{}, [FOLLOW_UP]],
    ] as const) {
      const { asked, adapters } = openWeb();
      const { collect } = openChatStage(() => say('Green.'), { complete, adapters });
      await collect({ messages: [...given], webSearch: true, ...over });
      expect(asked).toEqual([FOLLOW_UP.content]);
    }
  });
});
