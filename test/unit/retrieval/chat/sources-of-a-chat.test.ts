import { describe, expect, test } from '@jest/globals';
import { createExtractiveModel } from '../../../../activities/models/builtin/extractive-model.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { SearchRequest, SearchResult } from '../../../../activities/retrieval/search/search-types.js';
import { makeChunk, makeFile, makeResult } from '../fixtures.js';
import { VALVE, openChatStage, say } from './chat-stage.js';

function result(id: string, over: Partial<SearchResult> = {}): SearchResult {
  return {
    ...makeResult({ chunk_id: id, text: `Text of ${id}.` }),
    ...over,
  };
}

function results(...ids: string[]): SearchResult[] {
  return ids.map((id) => result(id));
}

function idsOf(sources: readonly unknown[]): string[] {
  return (sources as SearchResult[]).map(({ chunk }) => chunk.chunk_id);
}

function rewriting(...queries: object[]): string {
  return JSON.stringify({ intent: 'other', queries });
}

function answer() {
  return say('Green.');
}

describe('the queries of a chat', () => {
  test('are the question alone with the built-in model, which is asked nothing aside', async () => {
    const model = createExtractiveModel({ endpointName: 'builtin-extractive', contextTokens: 8192 });
    const { collect, searched } = openChatStage(answer, { model });
    const { end } = await collect({ trace: true, type: 'multiQuery' });
    expect(searched.map(({ text }) => text)).toEqual(['At what pressure does the valve open?']);
    expect(end.trace?.rewriting).toEqual({ status: 'built-in' });
  });

  test('are the question and its rewriting, fused by rank', async () => {
    const found = ({ text }: SearchRequest) =>
      text === 'pump colour' ? results('b', 'c', 'a') : results('a', 'b', 'd');
    const complete = () => rewriting({ query: 'pump colour' });
    const { collect, searched } = openChatStage(answer, { found, complete });
    const { end } = await collect({ trace: true, allRetrieved: true, topN: 2, rrfK: 60 });
    expect(searched.map(({ text }) => text)).toEqual([
      'At what pressure does the valve open?',
      'pump colour',
    ]);
    // 1/61 + 1/63, 1/62 + 1/61, 1/62, 1/63
    expect(idsOf(end.sources.presented)).toEqual(['b', 'a']);
    expect(idsOf(end.allRetrieved ?? [])).toEqual(['b', 'a', 'c', 'd']);
    expect(end.trace).toMatchObject({
      rewriting: { status: 'used', intent: 'other', requires_retrieval: true },
      queries: [
        { kind: 'question', results: [{ id: 'a' }, { id: 'b' }, { id: 'd' }] },
        { kind: 'rewritten', text: 'pump colour' },
      ],
      fused: ['b', 'a', 'c', 'd'],
      presented: ['b', 'a'],
    });
  });

  test('are the question once when the rewriting says the same', async () => {
    const complete = () => rewriting({ query: 'at what pressure does the  valve open?' });
    const { collect, searched } = openChatStage(answer, { complete });
    const { end } = await collect();
    expect(searched).toHaveLength(1);
    expect(idsOf(end.sources.presented)).toEqual(['one', 'two']);
  });

  test('are the question alone, and quickly, when the model fails or chatters', async () => {
    for (const complete of [
      () => 'I would gladly help you!',
      () => {
        throw new AppError('INFERENCE_ERROR');
      },
    ]) {
      const { collect, searched } = openChatStage(answer, { complete });
      const { end } = await collect({ trace: true });
      expect(searched).toHaveLength(1);
      expect(end.trace?.rewriting).toEqual({ status: 'failed' });
    }
  });

  test('stay as they are where rewriting is off or bypassed', async () => {
    const off = openChatStage(answer, { settings: { rewriting: false } });
    expect((await off.collect({ trace: true })).end.trace?.rewriting.status).toBe('off');
    const bypassed = openChatStage(answer);
    const { end } = await bypassed.collect({ trace: true, bypassRewriting: true, compareOriginal: true });
    expect(end.trace).toMatchObject({ rewriting: { status: 'bypassed' }, original_query: ['one', 'two'] });
    expect([...off.asides, ...bypassed.asides]).toEqual([]);
  });

  test('include variants, or a passage that might answer', async () => {
    const complete = (messages: readonly { role: string; content: string }[]): string => {
      if (messages[0]?.role === 'system') return 'no JSON';
      return messages[0]?.content.includes('passage') === true
        ? 'The valve opens at some bars.'
        : '1. valve pressure\n- opening pressure\n\nwhen does it open\nfourth';
    };
    const multi = openChatStage(answer, { complete });
    await multi.collect({ type: 'multiQuery' });
    expect(multi.searched.map(({ text }) => text).slice(1)).toEqual([
      'valve pressure',
      'opening pressure',
      'when does it open',
    ]);
    const hyde = openChatStage(answer, { complete });
    await hyde.collect({ type: 'hyde' });
    expect(hyde.searched.map(({ text }) => text).slice(1)).toEqual(['The valve opens at some bars.']);
  });
});

describe('a time span', () => {
  const span = { query: 'minutes', created_after: '2026-01-01', created_before: '2026-02-01' };
  const isBound = ({ filter }: SearchRequest): boolean => filter !== undefined;

  test('binds the question as well, half-open', async () => {
    const found = (request: SearchRequest) => (isBound(request) ? results('jan') : results('feb', 'jan'));
    const { collect, searched } = openChatStage(answer, { found, complete: () => rewriting(span) });
    const { end } = await collect();
    expect(idsOf(end.sources.presented)).toEqual(['jan']);
    const compare = (operator: string, at: string) => ({
      kind: 'compare',
      field: 'created_at',
      operator,
      value: { kind: 'time', value: Date.parse(at) },
    });
    const filter = { kind: 'and', parts: [compare('>=', '2026-01-01'), compare('<', '2026-02-01')] };
    expect(searched.filter(isBound).map((request) => request.filter)).toEqual([filter, filter]);
  });

  test('is dropped where it finds nothing', async () => {
    const found = (request: SearchRequest) => (isBound(request) ? [] : results('feb'));
    const stage = openChatStage(answer, { found, complete: () => rewriting(span) });
    const { end } = await stage.collect({ trace: true });
    expect(idsOf(end.sources.presented)).toEqual(['feb']);
    expect(end.trace?.queries).toMatchObject([
      { kind: 'question', without_time_span: true },
      { kind: 'rewritten', without_time_span: true, created_after: '2026-01-01T00:00:00.000Z' },
    ]);
  });

  test('stays where dropping it is not allowed', async () => {
    const found = (request: SearchRequest) => (isBound(request) ? [] : results('feb'));
    const settings = { filterlessFallback: false };
    const { collect } = openChatStage(answer, { found, complete: () => rewriting(span), settings });
    expect((await collect()).end.sources.presented).toEqual([]);
  });

  test('of one query among several leaves the question free', async () => {
    const found = (request: SearchRequest) => (isBound(request) ? results('jan') : results('feb'));
    const complete = () => rewriting(span, { query: 'agenda' });
    const { collect } = openChatStage(answer, { found, complete });
    expect(idsOf((await collect()).end.sources.presented).sort()).toEqual(['feb', 'jan']);
  });
});

describe('small talk', () => {
  const hello = [{ role: 'user' as const, content: 'Bonjour !' }];

  test('is answered without documents', async () => {
    const { collect, searched, asides, seen } = openChatStage(() => say('Bonjour.'));
    const { end } = await collect({ messages: hello });
    expect([...searched, ...asides]).toEqual([]);
    expect(seen[0]?.messages).toEqual(hello);
    expect(end.sources.presented).toEqual([]);
  });

  test('is searched for where retrieval is required, and by the built-in model', async () => {
    const required = openChatStage(answer);
    await required.collect({ messages: hello, requireRetrieval: true });
    const model = createExtractiveModel({ endpointName: 'builtin-extractive', contextTokens: 8192 });
    const builtin = openChatStage(answer, { model });
    await builtin.collect({ messages: hello });
    expect([required.searched.length, builtin.searched.length]).toEqual([1, 1]);
  });

  test('is never what the model alone takes for it', async () => {
    const complete = () => JSON.stringify({ intent: 'greeting', requires_retrieval: false, queries: ['x'] });
    const { collect, searched } = openChatStage(answer, { complete });
    await collect();
    expect(searched.length).toBeGreaterThan(0);
  });
});

describe('what is asked of a search', () => {
  test('is what partition and client say', async () => {
    const { collect, searched } = openChatStage(answer);
    await collect({
      candidates: 30,
      similarityThreshold: 0.4,
      workspace: 'w',
      topN: 3,
      rerank: { enabled: true, reranker: 'cross' },
      includeRelated: true,
      includeAncestors: false,
    });
    expect(searched[0]).toMatchObject({
      candidates: 30,
      similarityThreshold: 0.4,
      workspace: 'w',
      topK: 3,
      rerank: { enabled: true, reranker: 'cross' },
      related: { includeRelated: true, includeAncestors: false, relatedLimit: 10, maxAncestorDepth: 10 },
    });
    await collect({
      rerank: { enabled: true },
      includeRelated: true,
      disableReranker: true,
      disableExpansion: true,
    });
    expect(searched[1]).toMatchObject({ rerank: { enabled: false } });
    expect(searched[1]).not.toHaveProperty('related');
  });

  test('brings related chunks behind what was found, and says that the reranker was left out', async () => {
    const added = result('rel', { addedAs: 'related', score: 0 });
    const outcome = { results: [...VALVE, added], rerankSkipped: 'INFERENCE_ERROR' };
    const { end } = await openChatStage(answer, { found: () => outcome }).collect({ topN: 1 });
    expect(idsOf(end.sources.presented)).toEqual(['one', 'rel']);
    expect(end.degraded).toEqual(['reranker']);
  });

  test('keeps the sources within so many chunks of tokens', async () => {
    const found = Array.from({ length: 10 }, (_, index) =>
      makeResult({ chunk_id: `c${index}`, text: `Text ${index}. ${'word '.repeat(100)}` }),
    );
    const { collect } = openChatStage(answer, { found, settings: { chunkSize: 100 } });
    expect((await collect({ topN: 4 })).end.sources.presented.length).toBeLessThan(5);
  });
});

describe('map-reduce', () => {
  const many = (count: number) => results(...Array.from({ length: count }, (_, index) => `c${index}`));
  const evaluate =
    (relevant: (excerpt: string) => boolean) =>
    (messages: readonly { content: string }[]): string => {
      const excerpt = messages[1]?.content ?? '';
      if (!excerpt.includes('Excerpt:')) return 'no JSON';
      return relevant(excerpt) ? '{"relevant": true, "summary": "In short."}' : '{"relevant": false}';
    };

  test('evaluates ten, then five at a time, until five say nothing', async () => {
    const relevant = (excerpt: string) => /c[0-9]\./.test(excerpt) && !/c[5-9]\./.test(excerpt);
    const stage = openChatStage(answer, { found: many(30), complete: evaluate(relevant) });
    const { end } = await stage.collect({ mapReduce: true, topN: 10 });
    expect(stage.asides.filter(([, ask]) => ask?.content.includes('Excerpt:'))).toHaveLength(10);
    expect(idsOf(end.sources.presented)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
    expect(stage.seen[0]?.messages[0]?.content).toContain('[Source 1] report.pdf\nIn short.');
  });

  test('ends at twenty, and keeps what could not be evaluated', async () => {
    const stage = openChatStage(answer, { found: many(30), complete: () => 'no JSON' });
    const { end } = await stage.collect({ mapReduce: true });
    expect(stage.asides.filter(([, ask]) => ask?.content.includes('Excerpt:'))).toHaveLength(20);
    expect(end.sources.presented.length).toBeGreaterThanOrEqual(19);
    expect(stage.seen[0]?.messages[0]?.content).toContain('Text of c0.');
  });
});

describe('named files', () => {
  const file = makeFile({ file_key: 'k9', file_id: 'report' });
  const chunks = [makeChunk({ chunk_id: 'r1', text: 'First page.', file_key: 'k9' })];

  test('stand before what was found, and are told of', async () => {
    const { collect, seen } = openChatStage(answer, { files: [{ file, chunks }] });
    const { end } = await collect({ attachments: ['report', 'report'] });
    expect(idsOf(end.sources.presented)).toEqual(['r1', 'one', 'two']);
    expect(end.attachments).toEqual([{ id: 'report', partition: 'public', filename: 'report.pdf' }]);
    expect(seen[0]?.messages[0]?.content).toContain('[Source 1] report.pdf\nFirst page.');
  });

  test('are of the searched partitions and of the caller’s scope only', async () => {
    const foreign = { ...file, partition: 'foreign' };
    const { collect } = openChatStage(answer, { files: [{ file: foreign, chunks }] });
    for (const partitions of ['all', ['foreign'], ['public']] as const)
      await expect(
        collect({ attachments: ['report'], target: { kind: 'retrieval', partitions } }),
      ).rejects.toMatchObject({
        code: 'FILE_NOT_FOUND',
        status: 404,
        message: "Attachment 'report' not found",
      });
  });
});

describe('the web', () => {
  const page = { url: 'https://example.org/a', title: 'Valves', snippet: 'They open at 4 bar. [Source 9]' };
  const web = { search: async () => [page] };

  test('is numbered after the documents', async () => {
    const { collect, seen } = openChatStage(() => say('Four bar.\n[Sources: 3]'), { adapters: { web } });
    const { end } = await collect({ webSearch: true });
    expect(end.sources.cited).toEqual([page]);
    expect(seen[0]?.messages[0]?.content).toContain(
      '[Source 3] Valves (https://example.org/a)\nThey open at 4 bar. (Source 9)',
    );
  });

  test('is all there is without a partition', async () => {
    const { collect, searched } = openChatStage(answer, { adapters: { web } });
    const { end } = await collect({ webSearch: true, target: { kind: 'direct' } });
    expect(searched).toEqual([]);
    expect(end.sources.presented).toEqual([page]);
  });

  test('is left out, and said to be, when it fails or is not configured', async () => {
    const search = () => Promise.reject(new AppError('SERVICE_UNAVAILABLE'));
    for (const adapters of [{ web: null }, { web: { search } }]) {
      const { end } = await openChatStage(answer, { adapters }).collect({ webSearch: true });
      expect(end.degraded).toEqual(['websearch']);
      expect(end.sources.presented).toHaveLength(2);
    }
    const { end } = await openChatStage(answer).collect();
    expect(end).not.toHaveProperty('degraded');
  });
});

describe('the prompt', () => {
  test('is the spoken one where that is asked for', async () => {
    const { collect, seen } = openChatStage(answer);
    await collect({ spokenStyle: true });
    expect(seen[0]?.messages[0]?.content).toContain('read aloud');
  });

  test('carries the sources also where it has no place for them', async () => {
    const promptSource = { text: async () => 'Answer in verse. Date: {current_date}' };
    const { collect, seen } = openChatStage(answer, { adapters: { promptSource } });
    await collect();
    const system = seen[0]?.messages[0]?.content ?? '';
    expect(system).toMatch(
      /^Answer in verse. Date: 2026-03-01\n\nSources:\n\n\[Source 1\] report\.pdf, page 2\n/,
    );
    expect(system).toMatch(/\[End of sources\]$/);
  });

  test('is followed by an answer whose format the client has bound: nothing is cut off it', async () => {
    const { collect } = openChatStage(() => say('{"a": 1} [Sources: 1]'));
    const { text, end } = await collect({ more: { response_format: { type: 'json_object' } } });
    expect(text).toBe('{"a": 1} [Sources: 1]');
    expect(end.sources).toMatchObject({ reported: false, cited: [] });
    expect(end.sources.presented).toHaveLength(2);
  });
});

describe('log probabilities', () => {
  test('belong to what is shown; those of the citation line do not come out', async () => {
    const tokens = ['Four', ' bar', '.', '\n', '[Sources: 1]'];
    const { collect } = openChatStage(async function* () {
      for (const token of tokens) yield { content: token, logprobs: [{ token, logprob: -1 }] };
      yield { content: '', finishReason: 'stop' };
    });
    const { text, events } = await collect();
    expect(text).toBe('Four bar.');
    const shown = events.flatMap((event) => (event.type === 'delta' ? (event.logprobs ?? []) : []));
    expect(shown.map(({ token }) => token)).toEqual(['Four', ' bar', '.']);
  });
});
