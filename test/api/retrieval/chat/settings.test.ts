import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatSettings } from '../../../../api/retrieval/chat/chat-settings.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ env: { RETRIEVER_TOP_K: '40', CHAT_TOP_N: '2' } });
});
afterEach(() => gateway.close());

function create(partition: string) {
  return gateway.adapters.partitions.create({ partition, embedder: 'builtin-hash', ownerId: 1 });
}

describe('what a chat is set to', () => {
  it('is the partition’s preset and language model, or the default for several', async () => {
    const { adapters } = gateway;
    await create('one');
    const of = (partitions: string[] | 'all') => chatSettings(adapters, { kind: 'retrieval', partitions });
    expect(await of(['one'])).toEqual({
      candidates: 40,
      topN: 2,
      type: 'single',
      rrfK: 60,
      rerank: { enabled: false },
      includeRelated: true,
      includeAncestors: true,
      historyDepth: 4,
    });
    await adapters.partitions.update('one', {
      chat_llm: 'builtin-extractive',
      retrieval_preset: 'hyde',
      chat_history_depth: 2,
      generation_prompt_names: { sys_prompt: 'curt', spoken_style_answer: null },
    });
    const preset = await adapters.presets.get('retrieval', 'hyde');
    adapters.presets.get = (async (_type: never, name: string) =>
      name === 'hyde' && preset !== null
        ? {
            ...preset,
            config: {
              ...preset.config,
              top_k: 7,
              top_n: null,
              similarity_threshold: 0.3,
              vector_weight: 0.2,
              rrf_k: 10,
              enable_reranker: true,
              reranker: 'cross',
              llm: 'small',
              hyde_prompt_name: 'made-up',
            },
          }
        : null) as typeof adapters.presets.get;
    expect(await of(['one'])).toEqual({
      candidates: 7,
      similarityThreshold: 0.3,
      vectorWeight: 0.2,
      languageModel: 'builtin-extractive',
      historyDepth: 2,
      type: 'hyde',
      rrfK: 10,
      rerank: { enabled: true, reranker: 'cross' },
      rewritingModel: 'small',
      includeRelated: true,
      includeAncestors: true,
      prompts: { system: 'curt', hyde: 'made-up' },
    });
    // A preset that is gone, and several partitions: the default one, which is gone as well here.
    expect(await of('all')).toEqual({});
    expect(await chatSettings(adapters, { kind: 'direct' })).toEqual({});
  });

  it('bounds the sources of an answer', async () => {
    await indexText(gateway, { partition: 'one', fileId: 'a' }, [
      'The mill grinds rye.',
      'The mill grinds wheat.',
      'The mill grinds oats.',
      'The mill grinds barley.',
    ]);
    const response = await gateway.call('POST', '/v1/chat/completions', {
      body: JSON.stringify({
        model: 'rag-one',
        messages: [{ role: 'user', content: 'What does the mill grind?' }],
      }),
      headers: { 'Content-Type': 'application/json' },
    });
    const { extra } = (await response.json()) as { extra: { presented_sources: unknown[] } };
    expect(extra.presented_sources).toHaveLength(2);
  });
});

describe('what the environment says of retrieval', () => {
  it('is in the presets that are there from the start', async () => {
    await gateway.close();
    const env = { RETRIEVER_TYPE: 'multiQuery', INCLUDE_RELATED: 'false', INCLUDE_ANCESTORS: 'false' };
    gateway = await startGateway({ env });
    await create('one');
    expect(await chatSettings(gateway.adapters, { kind: 'retrieval', partitions: ['one'] })).toMatchObject({
      type: 'multiQuery',
      includeRelated: false,
      includeAncestors: false,
    });
  });
});
