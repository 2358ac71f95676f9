import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { ask, readEvents, startModelGateway } from '../../support/model-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

const ANSWER =
  'The mill opens at nine. [Source 1] The mill opens at ten on Sundays. [Source 1]\n[Sources: 1]';

let server: ScriptedModelServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startScriptedModelServer({ answer: () => ANSWER, contextTokens: 4096 });
  gateway = await startModelGateway(server, { env: { RAG_MODE: 'SimpleRag' } });
  await indexText(gateway, { partition: 'mill', fileId: 'hours' }, ['The mill opens at nine.']);
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

async function answerTo(body: object) {
  const { status, text } = await ask(gateway, { model: 'rag-mill', ...body });
  expect(status).toBe(200);
  const { choices, extra } = JSON.parse(text) as {
    choices: [{ message: { content: string } }];
    extra: Record<string, unknown>;
  };
  return { content: choices[0].message.content, extra };
}

describe('sentences of an answer', () => {
  it('stand in `extra` with what their sources say to them', async () => {
    const { content, extra } = await answerTo({});
    expect(content).toBe('The mill opens at nine. [Source 1] The mill opens at ten on Sundays. [Source 1]');
    expect(extra).toMatchObject({
      refused: false,
      sentences: [
        { text: 'The mill opens at nine. [Source 1]', cited: [1], supported: true, withheld: false },
        { cited: [1], supported: false, fault: 'number', withheld: false },
      ],
      cited_sources: [{ verified: false }],
    });
  });

  it.each([
    [true, 'The mill opens at nine. [Source 1] '],
    ['drop', 'The mill opens at nine. [Source 1] '],
    ['mark', 'The mill opens at nine. [Source 1] The mill opens at ten on Sundays. [Source 1] [unverified]'],
  ])('are left out or marked with require_verified %j', async (wanted, expected) => {
    const { content, extra } = await answerTo({ metadata: { require_verified: wanted } });
    expect(content).toBe(expected);
    expect(extra['sentences']).toMatchObject([{ withheld: false }, { withheld: wanted !== 'mark' }]);
  });

  it('are checked in a stream too, whose last chunks carry the result', async () => {
    const { text } = await ask(gateway, {
      model: 'rag-mill',
      stream: true,
      metadata: { require_verified: true },
    });
    const { chunks, content } = readEvents(text);
    expect(content.trim()).toBe('The mill opens at nine. [Source 1]');
    expect(chunks.at(-1)?.extra).toMatchObject({ refused: false, sentences: [{}, { withheld: true }] });
  });

  it('are a refusal where none is left', async () => {
    server.models.answer = () => 'The mill opens at 12. [Source 1]\n[Sources: 1]';
    const { content, extra } = await answerTo({ metadata: { require_verified: true } });
    expect(content).toBe('The sources do not support an answer to this question.');
    expect(extra).toMatchObject({ refused: true, cited_sources: [], sources: [] });
    server.models.answer = () => ANSWER;
  });

  it.each([
    ['The mill opens at nine.', true],
    ['The mill does not open at nine.', false],
  ])('decide about their quote where the last line alone names it: %s', async (said, verified) => {
    server.models.answer = () => `${said}\n[Sources: 1]`;
    const { extra } = await answerTo({ metadata: { spoken_style_answer: true } });
    expect(extra['cited_sources']).toMatchObject([{ quote: 'The mill opens at nine.', verified }]);
    server.models.answer = () => ANSWER;
  });
});

describe('require_verified', () => {
  it.each([
    [{ model: '' }, 400],
    [{ logprobs: true }, 400],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 400],
    [{ response_format: { type: 'json_object' } }, 400],
    [{ metadata: { require_verified: 'perhaps' } }, 422],
    [{ response_format: { type: 'text' }, logprobs: false }, 200],
    [{ metadata: { require_verified: false }, logprobs: true }, 200],
  ])('with %j is answered %d', async (body, expected) => {
    const { status } = await ask(gateway, {
      model: 'rag-mill',
      metadata: { require_verified: true },
      ...body,
    });
    expect(status).toBe(expected);
  });

  it('searches even for small talk', async () => {
    const { extra } = await answerTo({
      messages: [{ role: 'user', content: 'hello' }],
      metadata: { require_verified: true },
    });
    expect(extra['presented_sources']).toHaveLength(1);
  });
});
