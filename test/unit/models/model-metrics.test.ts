import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics } from '../../../activities/metrics.js';
import type { ProcessMetrics } from '../../../activities/metrics.js';
import type { ModelCall } from '../../../activities/ports/meter.js';
import type { ChatMessage } from '../../../activities/ports/models.js';
import { modelEnvironment, openModels } from '../../support/model-server/open-models.js';
import type { OpenedModels } from '../../support/model-server/open-models.js';
import { writeCountingModel } from '../../support/onnx/counting-model.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';

const QUESTION: ChatMessage[] = [{ role: 'user', content: 'When does the mill open?' }];

let server: ScriptedModelServer;
let opened: OpenedModels;
let metrics: ProcessMetrics;
let calls: ModelCall[];
beforeAll(async () => {
  server = await startScriptedModelServer({ rank: (_query, text) => Number(text) });
});
afterEach(() => {
  server.reset();
  return opened.close();
});
afterAll(() => server.close());

async function open(environment: Record<string, string>): Promise<void> {
  calls = [];
  metrics = createMetrics((call) => void calls.push(call));
  opened = await openModels(environment, { meter: metrics.meter });
}

async function lines(): Promise<string[]> {
  return (await metrics.registry.metrics()).split('\n');
}

describe.each(['ollama', 'openai'] as const)('what the %s dialect is asked', (provider) => {
  const counted = (operation: string, outcome: string, times: number): string =>
    `openrag_inference_requests_total{provider="${provider}",operation="${operation}",outcome="${outcome}"} ${times}`;

  test('is counted with its tokens and its time', async () => {
    await open(modelEnvironment(server, provider));
    const llm = await opened.registry.languageModel();
    await llm.complete(QUESTION, {});
    for await (const _delta of llm.stream(QUESTION, {}));
    await (await opened.registry.embedder('default')).embed(['a text'], { kind: 'document' });
    const answered = await lines();
    expect(answered).toEqual(
      expect.arrayContaining([
        counted('chat', 'ok', 2),
        counted('embedding', 'ok', 1),
        `openrag_inference_duration_seconds_count{provider="${provider}",operation="chat"} 2`,
        'openrag_llm_tokens_total{operation="chat",kind="prompt"} 22',
        'openrag_llm_tokens_total{operation="chat",kind="completion"} 10',
        'openrag_circuit_breaker_state{name="llm:default"} 0',
        'openrag_circuit_breaker_state{name="embedder:default"} 0',
      ]),
    );
    expect(calls.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ['chat', 'ok'],
      ['chat', 'ok'],
      ['embedding', 'ok'],
    ]);
  });

  test('is told from what the server fails at, and from what is left', async () => {
    await open(modelEnvironment(server, provider));
    const llm = await opened.registry.languageModel();
    for (let times = 0; times < 6; times += 1) server.next('chat', { kind: 'status', status: 500 });
    await expect(llm.complete(QUESTION, {})).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    await expect(llm.complete(QUESTION, {})).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    const answered = await lines();
    // The circuit opens at the fifth failure in a row.
    expect(answered).toContain(counted('chat', 'failed', 5));
    expect(answered).toContain('openrag_circuit_breaker_state{name="llm:default"} 2');
    server.reset();
  });

  test('and not answered to its end is no failure of the server', async () => {
    await open(modelEnvironment(server, provider));
    const llm = await opened.registry.languageModel();
    for await (const _delta of llm.stream(QUESTION, {})) break;
    expect(await lines()).toContain(counted('chat', 'cancelled', 1));
  });
});

test('rerankings are counted under the dialect of their server', async () => {
  await open({
    RERANKER_BASE_URL: server.url,
    RERANKER_MODEL: server.models.reranker,
    RERANKER_PROVIDER: 'tei',
  });
  const reranker = await opened.registry.reranker();
  await reranker?.rerank('query', ['1', '2'], {});
  expect(await lines()).toContain(
    'openrag_inference_requests_total{provider="tei",operation="reranking",outcome="ok"} 1',
  );
});

test('so are those of a model without a server, by how they end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tamis-onnx-metrics-'));
  await writeCountingModel(join(folder, 'counting'));
  await open({ MODELS_DIR: folder, RERANKER_PROVIDER: 'onnx', RERANKER_MODEL: 'counting' });
  const reranker = await opened.registry.reranker();
  await reranker?.rerank('oil', ['oil'], {});
  await rm(join(folder, 'counting'), { recursive: true });
  await expect(reranker?.rerank('oil', ['oil'], {})).rejects.toThrow("no folder 'counting'");
  const counted = (outcome: string): string =>
    `openrag_inference_requests_total{provider="onnx",operation="reranking",outcome="${outcome}"} 1`;
  expect(await lines()).toEqual(expect.arrayContaining([counted('ok'), counted('unknown-model')]));
  await rm(folder, { recursive: true });
});
