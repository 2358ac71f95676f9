import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

const TEXT = 'The café opens at eight. 🗼 The mill opens at nine. It closes at five.';
const ANSWER = 'The mill opens at nine [Source 1].';

let server: ScriptedModelServer;
let stack: RunningStack;
beforeAll(async () => {
  server = await startScriptedModelServer({ contextTokens: 8192 });
  server.models.answer = (messages) => {
    const wantsCall = messages.at(-1)?.content.includes('call the function') === true;
    server.models.toolCall = wantsCall ? { name: 'open_mill', arguments: { at: 'nine' } } : null;
    return `${ANSWER}\n\n[Sources: 1]`;
  };
  const llm = { LLM_PROVIDER: 'openai', BASE_URL: server.url, MODEL: server.models.llm, OLLAMA_HOST: '' };
  stack = await openStack({ ...llm, RAG_MODE: 'SimpleRag', INDEX_URL_ALLOW_PRIVATE_URLS: 'true' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  const client = documentClient(stack);
  const response = await client.send('POST', 'mill', 'hours', TEXT, 'hours.txt');
  const { task_status_url: url } = (await response.json()) as { task_status_url: string };
  expect((await client.ended(url)).task_state).toBe('COMPLETED');
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await server.close();
}, 60_000);

/** Runs a script of checks, each of which writes a line. */
async function runChecks(script: string, variables: Record<string, string>): Promise<string[]> {
  const { TAMIS_PYTHON: python, TAMIS_PYTHON_PACKAGES: packages } = process.env;
  if (python === undefined || packages === undefined)
    throw new Error('run this with `npm run test:clients`, which fetches the clients');
  const { stdout } = await promisify(execFile)(python, [scriptPath(script)], {
    env: {
      ...process.env,
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: '1',
      TAMIS_URL: stack.base,
      TAMIS_TOKEN: stack.token,
      ...variables,
    },
    timeout: 180_000,
  });
  const lines = stdout.trim().split('\n');
  const checks = lines.map((line) => JSON.parse(line) as { check: string; fault: string | null });
  expect(checks.filter(({ fault }) => fault !== null)).toEqual([]);
  return checks.map(({ check }) => check);
}

describe('the Python clients openai and langchain-openai', () => {
  it('find all that they look for', async () => {
    const variables = { TAMIS_MODEL: 'rag-mill', TAMIS_ANSWER: ANSWER };
    expect(await runChecks('check_clients.py', variables)).toHaveLength(11);
  }, 240_000);
});

describe('the Python client of the Model Context Protocol', () => {
  it('finds all that it looks for', async () => {
    expect(await runChecks('check_agents.py', { TAMIS_TEXT: TEXT })).toHaveLength(6);
  }, 240_000);
});
