import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createExtractiveModel } from '../../../../activities/models/builtin/extractive-model.js';
import type {
  ChatDelta,
  ChatMessage,
  LanguageModel,
  MoreFields,
} from '../../../../activities/ports/models.js';
import { modelEnvironment, openModels } from '../../../support/model-server/open-models.js';
import type { OpenedModels } from '../../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';

const QUESTION: ChatMessage[] = [{ role: 'user', content: 'When does the mill open?' }];
const TOOLS = [{ type: 'function', function: { name: 'open_mill', parameters: { type: 'object' } } }];

async function listen(model: LanguageModel, more: MoreFields, messages = QUESTION): Promise<ChatDelta[]> {
  const deltas: ChatDelta[] = [];
  for await (const delta of model.stream(messages, { more })) deltas.push(delta);
  return deltas;
}

describe.each(['ollama', 'openai'] as const)(
  'fields of the chat format behind the %s dialect',
  (provider) => {
    let server: ScriptedModelServer;
    let opened: OpenedModels;
    let model: LanguageModel;
    beforeAll(async () => {
      server = await startScriptedModelServer();
      opened = await openModels(modelEnvironment(server, provider));
      model = await opened.registry.languageModel();
    });
    afterEach(() => {
      server.reset();
      server.models.toolCall = null;
    });
    afterAll(async () => {
      await opened.close();
      await server.close();
    });
    const body = (): Record<string, unknown> => server.asked('chat').at(-1)?.body ?? {};

    test('are handed on', async () => {
      const schema = { type: 'object', properties: { a: { type: 'string' } } };
      const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
      await listen(model, {
        seed: 7,
        frequency_penalty: 0.5,
        presence_penalty: -0.5,
        logprobs: true,
        top_logprobs: 2,
        tools: TOOLS,
        response_format: format,
        some_vendor_field: { deep: [1] },
      });
      expect(body()).toMatchObject({
        tools: TOOLS,
        logprobs: true,
        top_logprobs: 2,
        some_vendor_field: { deep: [1] },
      });
      const sampling = { seed: 7, frequency_penalty: 0.5, presence_penalty: -0.5 };
      if (provider === 'openai') expect(body()).toMatchObject({ ...sampling, response_format: format });
      else expect(body()).toMatchObject({ options: sampling, format: schema });
      await listen(model, { response_format: { type: 'json_object' } });
      if (provider === 'ollama') expect(body()['format']).toBe('json');
    });

    test('never change whose model is asked, or how', async () => {
      const own = { model: 'gpt-9', messages: [], stream: false, options: { num_ctx: 1 }, truncate: true };
      expect(await listen(model, own)).not.toEqual([]);
      expect(body()).toMatchObject({ model: 'scripted-llm', messages: QUESTION, stream: true });
      if (provider === 'ollama') expect(body()).toMatchObject({ truncate: false, options: { num_ctx: 512 } });
    });

    test('bring calls of tools back, and take their results', async () => {
      server.models.toolCall = { name: 'open_mill', arguments: { at: 'nine' } };
      const deltas = await listen(model, { tools: TOOLS });
      expect(deltas.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
      const calls = deltas.flatMap(
        ({ more }) => (more?.['tool_calls'] ?? []) as { function: { arguments: string } }[],
      );
      expect(calls[0]).toMatchObject({ index: 0, id: expect.stringMatching(/^call_/), type: 'function' });
      expect(JSON.parse(calls.map((call) => call.function.arguments).join(''))).toEqual({ at: 'nine' });
      server.models.toolCall = null;
      const call = {
        id: 'call_1',
        type: 'function',
        function: { name: 'open_mill', arguments: '{"at":"nine"}' },
      };
      await listen(model, { tools: TOOLS }, [
        ...QUESTION,
        { role: 'assistant', content: '', more: { tool_calls: [call] } },
        { role: 'tool', content: 'done', more: { tool_call_id: 'call_1', name: 'open_mill' } },
        // As most clients say it: by the call alone.
        { role: 'tool', content: 'done again', more: { tool_call_id: 'call_1' } },
        { role: 'tool', content: 'of no call', more: { tool_call_id: 'call_2' } },
        { role: 'function', content: 'as of old', more: { name: 'open_mill' } },
      ]);
      expect(body()['messages']).toEqual(
        provider === 'openai'
          ? [
              ...QUESTION,
              { role: 'assistant', content: '', tool_calls: [call] },
              { role: 'tool', content: 'done', tool_call_id: 'call_1', name: 'open_mill' },
              { role: 'tool', content: 'done again', tool_call_id: 'call_1' },
              { role: 'tool', content: 'of no call', tool_call_id: 'call_2' },
              { role: 'function', content: 'as of old', name: 'open_mill' },
            ]
          : [
              ...QUESTION,
              {
                role: 'assistant',
                content: '',
                tool_calls: [{ function: { name: 'open_mill', arguments: { at: 'nine' } } }],
              },
              { role: 'tool', content: 'done', tool_name: 'open_mill' },
              { role: 'tool', content: 'done again', tool_name: 'open_mill' },
              { role: 'tool', content: 'of no call' },
              { role: 'tool', content: 'as of old', tool_name: 'open_mill' },
            ],
      );
    });

    test('ask for as much thought as the client wants', async () => {
      for (const [effort, think] of [
        ['none', false],
        ['low', 'low'],
        ['high', 'high'],
        [undefined, undefined],
      ] as const) {
        await listen(model, effort === undefined ? {} : { reasoning_effort: effort });
        const { think: asked, reasoning_effort: handedOn } = body();
        expect([asked, handedOn]).toEqual(provider === 'ollama' ? [think, undefined] : [undefined, effort]);
      }
      // A field of the server's own is handed on as it is.
      await listen(model, { think: true, reasoning_effort: 'low' });
      expect(body()['think']).toBe(true);
    });

    if (provider === 'ollama')
      test.each([
        [false, 1],
        [true, 3],
      ])('with parallel_tool_calls %j an answer calls %i of three', async (parallel, count) => {
        server.models.toolCall = { name: 'open_mill', arguments: { at: 'nine' }, times: 3 };
        const deltas = await listen(model, { tools: TOOLS, parallel_tool_calls: parallel });
        const calls = deltas.flatMap(({ more }) => (more?.['tool_calls'] ?? []) as { index: number }[]);
        expect(calls.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
        expect(deltas.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
        expect(body()).not.toHaveProperty('parallel_tool_calls');
      });
    else
      test.each([{ ttl: 1 }, { priority: -5 }])(
        "that affect the server's other clients are refused: %j",
        async (more) => {
          await expect(listen(model, more)).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 });
          expect(server.asked('chat')).toEqual([]);
        },
      );

    if (provider === 'ollama')
      test.each([
        { n: 2 },
        { logit_bias: { '5': 1 } },
        { tool_choice: 'required', tools: TOOLS },
        { functions: [{ name: 'f' }] },
        { keep_alive: -1 },
        { reasoning_effort: 'minimal' },
      ])('that it would leave out in silence are refused: %j', async (more) => {
        await expect(listen(model, more)).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 });
        expect(server.asked('chat')).toEqual([]);
      });
  },
);

describe('fields of the chat format with the built-in model', () => {
  const model = createExtractiveModel({ endpointName: 'builtin-extractive', contextTokens: 8192 });
  test.each([{ tools: TOOLS }, { response_format: { type: 'json_object' } }, { logprobs: true }, { n: 2 }])(
    'are refused when they change the answer: %j',
    async (more) => {
      await expect(listen(model, more)).rejects.toMatchObject({ code: 'BAD_REQUEST', plain: true });
    },
  );
  test('are taken when they do not', async () => {
    const more = {
      n: 1,
      tools: [],
      tool_choice: 'auto',
      response_format: { type: 'text' },
      seed: 3,
      user: 'x',
    };
    expect(await listen(model, more)).not.toEqual([]);
  });
});
