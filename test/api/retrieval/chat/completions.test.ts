import { afterEach, describe, expect, it } from '@jest/globals';
import { createScriptedChat, delta, end, source } from '../../support/scripted-chat.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { openAiError } from '../../support/openai-error.js';

let gateway: Gateway;
afterEach(() => gateway.close());

async function start(steps = [delta('Fast'), delta('.'), end()]) {
  const scripted = createScriptedChat(steps);
  gateway = await startGateway({ chat: scripted.service });
  await gateway.call('POST', '/partition/one');
  return scripted;
}

async function complete(body: object, token?: string): Promise<[number, Record<string, unknown>]> {
  const response = await gateway.call('POST', '/v1/completions', {
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
    ...(token === undefined ? {} : { token }),
  });
  return [response.status, (await response.json()) as Record<string, unknown>];
}

describe('POST /v1/completions', () => {
  it('is for those who may see the partition', async () => {
    const { requests } = await start();
    const { token } = gateway.addUser('outsider');
    expect((await complete({ model: 'rag-one', prompt: 'Q?' }, token))[0]).toBe(403);
    expect((await complete({ model: 'rag-none', prompt: 'Q?' }))[0]).toBe(404);
    expect(requests).toEqual([]);
  });

  it.each([
    [{}, "'prompt' is required"],
    [{ prompt: ' ' }, "'prompt' must not be empty"],
    [{ prompt: [' '] }, "'prompt' must not be empty"],
    ...[[], ['a', 'b'], [12], [[12, 13]], [['a']], [null]].map((prompt): [object, string] => [
      { prompt },
      "'prompt' must be one text, or a list of one text; tokens are not taken",
    ]),
    [{ prompt: 'Q?', stream: true }, 'Streaming is not supported for this endpoint'],
    [{ prompt: 'Q?', best_of: 2 }, "'best_of' must be 1"],
    [{ prompt: 'Q?', n: 3 }, "'n' must be 1"],
    [{ prompt: 'Q?', suffix: 'x' }, "'suffix' is not supported"],
  ])('refuses %j', async (body, detail) => {
    const { requests } = await start();
    expect(await complete(body)).toEqual([400, openAiError('BAD_REQUEST', detail)]);
    expect(requests).toEqual([]);
  });

  it('is validated', async () => {
    await start();
    for (const body of [
      { prompt: { text: 'a' } },
      { prompt: 7 },
      { prompt: 'Q?', logprobs: true },
      { prompt: 'Q?', seed: 0.5 },
    ])
      expect((await complete(body))[0]).toBe(422);
  });

  it('takes a prompt that is alone in a list', async () => {
    const { requests } = await start();
    const [status, body] = await complete({ model: 'rag-one', prompt: ['How fast?'], echo: true });
    expect([status, requests[0]?.messages]).toEqual([200, [{ role: 'user', content: 'How fast?' }]]);
    expect(body).toMatchObject({ choices: [{ text: expect.stringMatching(/^How fast\?/) }] });
  });

  it('answers the prompt, with sources', async () => {
    const { requests } = await start([delta('Fast'), delta('.'), end({ presented: [source('a')] })]);
    const given = { stop: ['END'], seed: 7, frequency_penalty: 0.1, logit_bias: { '5': 1 }, max_tokens: 9 };
    const [status, body] = await complete({ model: 'rag-one', prompt: 'How fast?', best_of: 1, ...given });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      created: expect.any(Number),
      model: 'rag-one',
      choices: [{ index: 0, text: 'Fast.', logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      extra: expect.objectContaining({ sources: [expect.any(Object)], citations_reported: false }),
    });
    expect(requests[0]).toMatchObject({
      messages: [{ role: 'user', content: 'How fast?' }],
      temperature: 0.3,
      maxTokens: 9,
      stop: ['END'],
      more: { seed: 7, frequency_penalty: 0.1, logit_bias: { '5': 1 } },
    });
  });

  it('echoes the prompt, and writes log probabilities in the older form', async () => {
    const top_logprobs = [
      { token: 'Fast', logprob: -0.1 },
      { token: 'Slow', logprob: -2 },
    ];
    const { requests } = await start([
      { ...delta('Fast'), logprobs: [{ token: 'Fast', logprob: -0.1, top_logprobs }] } as never,
      { ...delta('.'), logprobs: [{ token: '.', logprob: -0.2 }] } as never,
      end(),
    ]);
    const [, body] = await complete({ prompt: 'Q? ', echo: true, logprobs: 2 });
    expect(requests[0]?.more).toEqual({ logprobs: true, top_logprobs: 2 });
    expect(body['choices']).toEqual([
      {
        index: 0,
        text: 'Q? Fast.',
        finish_reason: 'stop',
        logprobs: {
          tokens: ['Fast', '.'],
          token_logprobs: [-0.1, -0.2],
          text_offset: [3, 7],
          top_logprobs: [{ Fast: -0.1, Slow: -2 }, null],
        },
      },
    ]);
  });
});
