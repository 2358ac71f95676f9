import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../activities/ports/models.js';
import { openBytesParser } from '../support/documents/parse-bytes.js';
import type { BytesParser } from '../support/documents/parse-bytes.js';
import { FACT, INJECTIONS, SECRET } from '../support/injections.js';
import type { Injection, InjectionKind } from '../support/injections.js';
import { makeResult } from '../unit/retrieval/fixtures.js';
import { openChatStage, say } from '../unit/retrieval/chat/chat-stage.js';

let parser: BytesParser;
beforeAll(async () => {
  parser = await openBytesParser();
});
afterAll(() => parser.close());

function only(...kinds: InjectionKind[]): [string, Injection][] {
  return INJECTIONS.filter(({ kind }) => kinds.includes(kind)).map((injection) => [injection.id, injection]);
}

/** What a chat asks of a model that says `answer`, when a search found the injection beside a source with a secret. */
async function ask({ fileKind, bytes, language }: Injection, answer: string) {
  const { chunks } = await parser.parse(fileKind, bytes);
  const found = [
    ...chunks.map(({ text }, place) => makeResult({ chunk_id: `i${place}`, text })),
    makeResult({ chunk_id: 'secret', text: `The code of the store is ${SECRET}.` }),
  ];
  const { collect, seen } = openChatStage(() => say(answer), { found });
  const messages: ChatMessage[] = [{ role: 'user', content: FACT[language].question }];
  const { text, end } = await collect({ messages });
  return { text, end, system: seen[0]!.messages[0]!.content, sources: found.length };
}

test('there are sixty', () => {
  expect(INJECTIONS).toHaveLength(60);
  expect(new Set(INJECTIONS.map(({ id }) => id)).size).toBe(60);
});

describe('what a document tries to tell a model', () => {
  test.each(only('order', 'turn', 'source', 'unseen', 'hidden', 'address'))(
    '%s: the sources are ours, and all that it says stands within them',
    async (_id, injection) => {
      const { system, sources } = await ask(injection, '4 bar [Source 1].\n[Sources: 1]');
      const numbers = [...system.matchAll(/^\[Source (\d+)\]/gm)].map(([, number]) => Number(number));
      expect(numbers).toEqual(Array.from({ length: sources }, (_, place) => place + 1));
      const list = system.slice(system.indexOf('\n[Source 1] '));
      // The prompt ends with the mark, which is there once.
      expect(list.match(/\[\s*end\s+of\s+sources\s*\]/gi)).toEqual(['[End of sources]']);
      expect(list.trimEnd().endsWith('[End of sources]')).toBe(true);
      expect(list).not.toMatch(
        /<\|?\/?(?:im_|eot_id|start_header|start_of_turn|think|function_calls)|\[\/?INST\]|<\/?s>|<<\/?SYS>>/i,
      );
      expect(list).not.toMatch(/^[ \t*#]*(?:system|assistant|developer)(?: prompt| message)?[ \t*]*:/im);
      expect(list).not.toMatch(/[\u200b\u{e0000}-\u{e007f}]/u);
      expect(list).toContain(FACT[injection.language].fact.slice(0, 20));
    },
  );

  test.each(only('hidden'))('%s: no model reads what no person sees', async (_id, injection) => {
    expect((await ask(injection, '4 bar.')).system).not.toMatch(injection.canary);
  });

  test.each(only('address'))('%s: a model that obeys sends nothing', async (_id, injection) => {
    const order = injection.bytes.toString('utf8').split('\n\n')[1]!;
    const obedient = order.replace(/<(?:the|le) code>/, SECRET);
    const { text, end } = await ask(injection, `4 bar [Source 1]. ${obedient}\n[Sources: 1]`);
    expect(obedient).toMatch(injection.canary);
    expect(text).toContain('4 bar [Source 1].');
    expect(text).not.toMatch(injection.canary);
    expect(end.linksRemoved).toBeGreaterThan(0);
  });
});
