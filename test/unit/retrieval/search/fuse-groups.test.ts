import { describe, expect, it } from '@jest/globals';
import type { Embedder } from '../../../../activities/ports/models.js';
import { fuseGroups } from '../../../../activities/retrieval/search/fuse-groups.js';
import type { CheckedHit } from '../../../../activities/retrieval/search/generation-check.js';
import type { GroupHits } from '../../../../activities/retrieval/search/search-legs.js';
import { makeChunk, makeFile, makeVersion } from '../fixtures.js';

function hit(id: string, score: number): CheckedHit {
  return { chunk: makeChunk({ chunk_id: id }), file: makeFile(), version: makeVersion(), score };
}

/** Legs that share nothing, so that agreement would give the least share. */
function groupOf(modelName: string, competence: number | null): GroupHits {
  const embedder: Embedder = {
    endpointName: modelName,
    modelName,
    dimension: 1,
    vectorField: 'vector',
    batchSize: 1,
    maxInputTokens: null,
    embed: async () => [[1]],
  };
  return {
    embedder,
    competence,
    partitions: ['p'],
    similarityThreshold: 0,
    rounds: 1,
    lexical: [hit('words', 10)],
    dense: [hit('meaning', 0.5)],
    dropped: { lexical: [], dense: [] },
    vector: [1],
    vectors: new Map(),
  };
}

function bestOf(group: GroupHits): string | undefined {
  return fuseGroups([group]).results[0]?.chunk.chunk_id;
}

describe('fuseGroups', () => {
  it.each([
    [0, 0.3],
    [0.5, 0.4125],
    [1, 0.75],
  ])('gives vectors of an embedder of competence %s the share %s', (competence, weight) => {
    expect(fuseGroups([groupOf('some', competence)]).weight).toBeCloseTo(weight, 10);
  });

  it('puts first what vectors found where they are understood, and otherwise what words found', () => {
    expect(bestOf(groupOf('some', 1))).toBe('meaning');
    expect(bestOf(groupOf('some', 0))).toBe('words');
  });

  it('goes by agreement where the competence is not known', () => {
    expect(fuseGroups([groupOf('some', null)]).weight).toBeCloseTo(0.65 / 4, 10);
    expect(fuseGroups([groupOf('builtin/hash-1024', null)]).weight).toBeCloseTo(0.2 / 4, 10);
  });

  it('takes the share that is asked for, whatever the embedder understands', () => {
    const ids = (weight: number) =>
      fuseGroups([groupOf('some', 1)], weight).results.map(({ chunk }) => chunk.chunk_id);
    expect(fuseGroups([groupOf('some', 1)], 0.4).weight).toBe(0.4);
    expect(ids(0)).toEqual(['words', 'meaning']);
    expect(ids(1)).toEqual(['meaning', 'words']);
  });

  it('takes the least share where embedders differ', () => {
    expect(fuseGroups([groupOf('one', 1), groupOf('other', 0)]).weight).toBeCloseTo(0.3, 10);
  });
});
