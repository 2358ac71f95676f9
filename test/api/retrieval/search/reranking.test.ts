import { describe, expect, it } from '@jest/globals';
import type { Adapters } from '../../../../activities/ports/adapters.js';
import { openModels } from '../../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { LooseBody } from '../../support/loose-body.js';
import { contentsOf, searchStage } from '../../support/search-stage.js';
import { indexText } from '../../support/uploads.js';

const { start, closes } = searchStage();

function expectFusedOrder({ documents }: LooseBody): void {
  const scores: number[] = documents.map(({ metadata }: LooseBody) => metadata.combined_score);
  expect(scores).toHaveLength(2);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  for (const { metadata } of documents) expect(metadata).not.toHaveProperty('rerank_score');
}

describe('searching with a reranker', () => {
  /** A reranker for which the last line of the file is the best. */
  const startReranked = async (env: Record<string, string> = {}) => {
    const server = await startScriptedModelServer({
      rank: (_query, text) => Number(/\d+/.exec(text)?.[0] ?? -1),
    });
    closes(() => server.close());
    const environment = {
      RERANKER_BASE_URL: server.url,
      RERANKER_MODEL: 'scripted-reranker',
      ...env,
    };
    const models = await openModels(environment);
    closes(() => models.close());
    const reranker: Adapters['models']['reranker'] = (name) => models.registry.reranker(name);
    const started = await start({
      env: environment,
      adapt: (own) => ({ ...own, models: { ...own.models, reranker } }),
    });
    const lines = Array.from({ length: 12 }, (_, index) => `pump number ${index}`);
    await indexText(started.gateway, { partition: 'p', fileId: 'a', token: started.ada.token }, lines);
    return { ...started, server };
  };

  it('orders the candidates anew and shows the scores, on every search route', async () => {
    const { ask, server } = await startReranked();
    for (const path of ['/search', '/search/partition/p', '/search/partition/p/file/a']) {
      const [status, body] = await ask(`${path}?text=pump&top_k=3`);
      expect([path, status]).toEqual([path, 200]);
      expect(contentsOf(body)).toEqual(['pump number 11', 'pump number 10', 'pump number 9']);
      expect(body.documents[0].metadata.rerank_score).toBe(11);
      expect(body).not.toHaveProperty('extra');
    }
    expect(server.asked('rerank')).toHaveLength(3);
    await ask('/search/partition/p?text=%20');
    expect(server.asked('rerank')).toHaveLength(3);
  });

  it('keeps the status of a reranker that fails, unless RERANKER_ON_ERROR is skip', async () => {
    const strict = await startReranked();
    strict.server.always('rerank', { kind: 'status', status: 422, body: '{"error":"no such language"}' });
    expect(await strict.ask('/search?text=pump')).toEqual([
      422,
      {
        detail: "[INFERENCE_ERROR]: Model endpoint 'default': no such language",
        extra: expect.any(Object),
      },
    ]);
    const lenient = await startReranked({ RERANKER_ON_ERROR: 'skip' });
    lenient.server.always('rerank', { kind: 'status', status: 500 });
    const [status, body] = await lenient.ask('/search?text=pump&top_k=2');
    expect(status).toBe(200);
    expect(body.extra).toEqual({ rerank_skipped: 'INFERENCE_ERROR' });
    expectFusedOrder(body);
  });

  it('changes nothing without a reranker, or where the preset does not ask for one', async () => {
    const { ask, server } = await startReranked({ RERANKER_ENABLED: 'false' });
    const [, body] = await ask('/search?text=pump&top_k=2');
    expectFusedOrder(body);
    expect(server.asked('rerank')).toEqual([]);
    const plain = await start({ env: { RERANKER_ENABLED: 'true' } });
    await indexText(plain.gateway, { partition: 'p', fileId: 'a', token: plain.ada.token }, ['pump']);
    expect((await plain.ask('/search?text=pump'))[1].documents[0].metadata).not.toHaveProperty(
      'rerank_score',
    );
  });
});
