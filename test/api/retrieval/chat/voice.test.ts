import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../../schemas/config/config.js';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { askJson } from '../../support/ask-json.js';
import { ask, startModelGateway } from '../../support/model-gateway.js';
import { ADMIN_TOKEN } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

let server: ScriptedModelServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startScriptedModelServer({ contextTokens: 4096 });
});
afterEach(async () => {
  server.reset();
  await gateway.close();
});
afterAll(() => server.close());

async function open(env: Record<string, string>): Promise<void> {
  gateway = await startModelGateway(server, { env: { RAG_MODE: 'SimpleRag', ...env } });
  await indexText(gateway, { partition: 'one', fileId: 'a' }, ['The mill opens at nine.']);
}

/** Writes a prompt and makes it the default of its type. */
async function prefer(prompt_type: string, content: string): Promise<void> {
  const body = { prompt_type, name: 'ours', content };
  const [status, { id }] = await askJson(gateway, 'POST', '/prompts/', { token: ADMIN_TOKEN, body });
  expect(status).toBe(201);
  await gateway.call('PUT', `/prompts/${id}/default`);
}

/** The system message of an answer. */
async function instructions(metadata: object = {}): Promise<string> {
  expect((await ask(gateway, { model: 'rag-one', metadata })).status).toBe(200);
  const { messages } = server.asked('chat').at(-1)?.body as { messages: { role: string; content: string }[] };
  expect(messages[0]?.role).toBe('system');
  return messages[0]?.content ?? '';
}

describe('ASSISTANT_NAME and DEFAULT_LANGUAGE', () => {
  it('introduce whoever answers in prompts without slots for them', async () => {
    await open({ ASSISTANT_NAME: 'Molly', DEFAULT_LANGUAGE: 'fr' });
    const said =
      'Your name is Molly. Where the language of the question cannot be told, answer in French.\n\nYou answer';
    expect((await instructions()).startsWith(said)).toBe(true);
    expect((await instructions({ spoken_style_answer: true })).startsWith(said)).toBe(true);
  });

  it('fill the slots of prompts that have them, and are not said twice', async () => {
    await open({ ASSISTANT_NAME: 'Molly', DEFAULT_LANGUAGE: 'Breton' });
    await prefer('sys_prompt', 'I am {assistant_name}. I speak {default_language}. {{x}} {context}');
    expect(await instructions()).toMatch(/^I am Molly\. I speak Breton\. \{x\} \[Source 1\]/);
    await prefer('spoken_style_answer', 'Speak {default_language}.\n{context}');
    expect(await instructions({ spoken_style_answer: true })).toMatch(
      /^Your name is Molly\.\n\nSpeak Breton\.\n\[Source 1\]/,
    );
  });

  it('are left out where nobody has set them', async () => {
    await open({});
    expect(await instructions()).toMatch(/^You answer questions about documents\./);
    await prefer('sys_prompt', 'I am {assistant_name}. I speak {default_language}.\n{context}');
    expect(await instructions()).toMatch(/^I am the assistant\. I speak the language of the question\.\n/);
  });

  it('are one line without braces each', () => {
    const { voice } = parseConfig({ ASSISTANT_NAME: ' L’Assistant ', DEFAULT_LANGUAGE: 'pt-BR' }).chat;
    expect(voice).toEqual({ assistantName: 'L’Assistant', defaultLanguage: 'Brazilian Portuguese' });
    for (const bad of ['a\nb', '{context}', 'x'.repeat(101)])
      for (const name of ['ASSISTANT_NAME', 'DEFAULT_LANGUAGE'])
        expect(() => parseConfig({ [name]: bad })).toThrow(name);
  });
});
