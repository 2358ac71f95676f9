import { describe, expect, test } from '@jest/globals';
import type { ChatMessage, LanguageModel } from '../../../../activities/ports/models.js';
import { AppError } from '../../../../schemas/app-error.js';
import { isCasual } from '../../../../activities/retrieval/chat/casual-phrases.js';
import { parseRewriting } from '../../../../activities/retrieval/chat/parse-rewriting.js';
import { createQuestionRewriter } from '../../../../activities/retrieval/chat/rewrite-question.js';

function user(content: string): ChatMessage {
  return { role: 'user', content };
}

describe('parseRewriting', () => {
  test('reads what was asked for', () => {
    const answer =
      '{"intent": "other", "requires_retrieval": false, "queries": [{"query": " pump  colour ", ' +
      '"created_after": "2026-01-01", "created_before": "2026-02-01T00:00:00Z"}, {"query": "b", "created_after": null}]}';
    expect(parseRewriting(answer)).toEqual({
      intent: 'other',
      requiresRetrieval: false,
      queries: [
        {
          text: 'pump colour',
          span: { from: new Date('2026-01-01T00:00:00Z'), until: new Date('2026-02-01T00:00:00Z') },
        },
        { text: 'b' },
      ],
    });
  });

  test.each([
    ['```json\n{"queries": ["a", "b"]}\n```', ['a', 'b']],
    ['Sure! {"sub_queries": [{"query": "a"}, {"text": "?"}, "", 7]} Done.', ['a']],
    ['{"query": "a"}', ['a']],
    ['{"queries": ["a", "b", "c", "d"]}', ['a', 'b', 'c']],
    ['{"queries": [{"query": "a", "created_after": "soon"}], "requires_retrieval": "maybe"}', ['a']],
    ['{"queries": [{"query": "a", "created_after": "2026-02-01", "created_before": "2026-01-01"}]}', ['a']],
  ])('is lenient: %s', (answer, queries) => {
    const rewriting = parseRewriting(answer);
    expect(rewriting?.queries).toEqual(queries.map((text) => ({ text })));
    expect(rewriting?.requiresRetrieval).toBe(true);
  });

  test.each([
    ['2024-03-01T00:00:00', '2024-03-01T00:00:00Z'],
    [' 2024-03-01 09:30 ', '2024-03-01T09:30:00Z'],
    ['2024-03-01T00:00:00+0200', '2024-02-29T22:00:00Z'],
    // In the zone of the machine, or beyond what the stores can keep.
    ['2024/03/01', null],
    ['March 1, 2024', null],
    ['12024-01-01', null],
    ['9999-12-31T23:59:59-05:00', null],
  ])('reads the time %j alike on every machine', (given, read) => {
    const rewriting = parseRewriting(JSON.stringify({ queries: [{ query: 'a', created_after: given }] }));
    expect(rewriting?.queries).toEqual([
      read === null ? { text: 'a' } : { text: 'a', span: { from: new Date(read) } },
    ]);
  });

  test.each(['', 'The pump is green.', '{"queries": []}', '{"queries": [', '[1, 2]', '}{', '{"a": {"b": 1}'])(
    'finds nothing in %j',
    (answer) => expect(parseRewriting(answer)).toBeNull(),
  );

  test('cuts what is too long between two characters', () => {
    const query = `x${'😀'.repeat(300)}`;
    const cut = [{ text: query.slice(0, 499) }];
    expect(parseRewriting(JSON.stringify({ queries: [query] }))?.queries).toEqual(cut);
  });

  test('is quick with hostile answers', () => {
    expect(parseRewriting('{'.repeat(500_000))).toBeNull();
    expect(parseRewriting(`{${'{"a":'.repeat(100_000)}${'}'.repeat(100_000)}`)).toBeNull();
  });
});

describe('isCasual', () => {
  test.each([
    'Hello!',
    'bonjour',
    'Merci beaucoup !!! 🙏',
    'OK, thanks.',
    'Ça va ?',
    'Qui es-tu ?',
    'D’accord, merci',
  ])('%s is small talk', (message) => expect(isCasual(message)).toBe(true));
  test.each([
    'Hello, what is the pressure?',
    'merci de lister les vannes',
    '',
    '?',
    'pump',
    'hello '.repeat(50),
  ])('%s is not', (message) => expect(isCasual(message)).toBe(false));
});

describe('createQuestionRewriter', () => {
  const setUp = (answers: (string | Error)[], togetherMs?: number) => {
    const asked: { messages: readonly ChatMessage[]; maxTokens: number | undefined }[] = [];
    let clock = 0;
    let users = 0;
    const model = {
      endpointName: 'e',
      modelName: 'm',
      contextTokens: 8192,
      stream: undefined as never,
      complete: async (messages, { maxTokens }) => {
        asked.push({ messages, maxTokens });
        const answer = answers.shift() ?? 'nothing';
        if (answer === 'silence') return new Promise(() => undefined);
        if (answer instanceof Error) throw answer;
        return { content: answer, finishReason: 'stop' };
      },
    } satisfies LanguageModel;
    const rewriter = createQuestionRewriter({ now: () => clock, ...(togetherMs && { togetherMs }) });
    const rewrite = (
      messages = [user('And the pump?')],
      historyDepth = 4,
      signal = new AbortController().signal,
      isClients = false,
      userId = (users += 1),
    ) =>
      rewriter.rewrite({
        model,
        isClients,
        userId,
        prompt: 'P {current_date} {query}',
        messages,
        historyDepth,
        signal,
        date: new Date('2026-03-01T12:00:00Z'),
      });
    const rewriteFor = (userId: number) => rewrite(undefined, undefined, undefined, undefined, userId);
    return { rewrite, rewriteFor, asked, pass: (ms: number) => (clock += ms) };
  };

  test('rewrites the question that the results of tools were fetched for', async () => {
    const { rewrite, asked } = setUp(['{"queries": ["hours of the mill"]}']);
    const messages: ChatMessage[] = [
      user('Is there a mill?'),
      { role: 'assistant', content: 'Yes.' },
      user('When does it open?'),
      { role: 'assistant', content: 'Let me look that up.' },
      { role: 'tool', content: 'at nine' },
    ];
    await rewrite(messages);
    expect(asked[0]?.messages).toEqual([
      { role: 'system', content: 'P 2026-03-01 When does it open?' },
      {
        role: 'user',
        content:
          'Conversation:\nuser: Is there a mill?\nassistant: Yes.\n\nLast message:\nWhen does it open?',
      },
    ]);
  });

  test('shows the model the last messages, and takes 512 tokens', async () => {
    const { rewrite, asked } = setUp(['{"queries": ["colour of the pump"]}']);
    const messages: ChatMessage[] = [
      user('one'),
      { role: 'assistant', content: 'two' } as const,
      user('three'),
      { role: 'assistant', content: 'four' } as const,
      user('And the pump?'),
    ];
    expect(await rewrite(messages)).toMatchObject({ queries: [{ text: 'colour of the pump' }] });
    expect(asked).toEqual([
      {
        maxTokens: 512,
        messages: [
          { role: 'system', content: 'P 2026-03-01 And the pump?' },
          {
            role: 'user',
            content:
              'Conversation:\nassistant: two\nuser: three\nassistant: four\n\nLast message:\nAnd the pump?',
          },
        ],
      },
    ]);
  });

  test('tries twice what cannot be read, once what fails, and throws neither', async () => {
    const twice = setUp(['The pump is green.', '{"queries": ["a"]}']);
    expect(await twice.rewrite()).toMatchObject({ queries: [{ text: 'a' }] });
    const prose = setUp(['The', 'pump', '{"queries": ["too late"]}']);
    expect(await prose.rewrite()).toBeNull();
    expect(prose.asked).toHaveLength(2);
    const failing = setUp([new Error('away')]);
    expect(await failing.rewrite()).toBeNull();
    expect(failing.asked).toHaveLength(1);
  });

  test('waits no longer than it may, also for a model that heeds nothing', async () => {
    const { rewrite } = setUp(['silence'], 20);
    expect(await rewrite()).toBeNull();
  });

  test('leaves a model alone that cannot, and tries it again later', async () => {
    const { rewrite, asked, pass } = setUp(['no', 'no', 'no', 'no', '{"queries": ["a"]}']);
    expect(await rewrite()).toBeNull();
    expect(await rewrite()).toBeNull();
    expect(await rewrite()).toBe('resting');
    expect(asked).toHaveLength(4);
    pass(601_000);
    expect(await rewrite()).toMatchObject({ queries: [{ text: 'a' }] });
  });

  test('is asked by others after it failed one user, and not for ever after', async () => {
    const away = new Error('away');
    const { rewriteFor } = setUp([
      away,
      away,
      '{"queries": ["a"]}',
      ...Array.from({ length: 6 }, () => away),
    ]);
    for (let turn = 0; turn < 2; turn += 1) expect(await rewriteFor(1)).toBeNull();
    expect(await rewriteFor(2)).toMatchObject({ queries: [{ text: 'a' }] });
    for (let turn = 0; turn < 5; turn += 1) expect(await rewriteFor(1)).toBeNull();
    expect(await rewriteFor(2)).toBe('resting');
  });

  test('is asked on whatever is too long for it', async () => {
    const tooLong = new AppError('CONTEXT_TOO_LONG', 'too long');
    const { rewrite } = setUp([tooLong, tooLong, tooLong, '{"queries": ["a"]}']);
    for (let turn = 0; turn < 3; turn += 1) expect(await rewrite()).toBeNull();
    expect(await rewrite()).toMatchObject({ queries: [{ text: 'a' }] });
  });

  test('is asked by others after it refused the key of a client', async () => {
    const refused = new Error('401');
    const { rewrite, asked } = setUp([refused, refused, refused, '{"queries": ["a"]}']);
    for (let turn = 0; turn < 3; turn += 1)
      expect(await rewrite(undefined, undefined, undefined, true)).toBeNull();
    expect(await rewrite()).toMatchObject({ queries: [{ text: 'a' }] });
    expect(asked).toHaveLength(4);
  });

  test('ends at once when the client leaves', async () => {
    const { rewrite } = setUp(['silence']);
    const client = new AbortController();
    const rewriting = rewrite(undefined, undefined, client.signal);
    client.abort(new Error('gone'));
    await expect(rewriting).rejects.toThrow('gone');
  });
});
