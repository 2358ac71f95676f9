import { isBuiltin } from '../../models/builtin/builtin-endpoints.js';
import { agreement, convexCombination, scaleScores } from './fusion.js';
import type { LegHit } from './fusion.js';
import type { CheckedHit } from './generation-check.js';
import type { GroupHits } from './search-legs.js';
import type { RankedHit } from './search-types.js';

/**
 * Share of the dense leg in the fused score.
 *
 * By what the embedder was measured to understand of the question's language: of one that understands nothing of it the
 * leg is a second opinion on words, of one that understands all of it the leg is the better one. The square, because an
 * embedder that finds half of the answers ranks the other half as badly as chance does.
 *
 * Where that is not known, by agreement: from 0.6 on the share is whole; below, it falls with its square, to a quarter.
 * Of the built-in embedder, which is lexical like BM25 and weaker, it is small: nDCG@10 of a search on Cranfield 0.398
 * so, 0.395 at the 0.3 of an embedder that understands nothing; on PIAF 0.822 and 0.818.
 */
function denseWeight({ embedder, competence, lexical, dense }: GroupHits): number {
  if (competence !== null) return MIN_SHARE + COMPETENT_SHARE * competence ** 2;
  return (
    (isBuiltin(embedder) ? 0.2 : 0.65) *
    Math.max(MIN_TRUST, Math.min(1, agreement(legOf(lexical), legOf(dense)) / FULL_AGREEMENT) ** 2)
  );
}

const MIN_SHARE = 0.3;
const COMPETENT_SHARE = 0.45;
const FULL_AGREEMENT = 0.6;
const MIN_TRUST = 0.25;

export function legOf(hits: readonly CheckedHit[]): LegHit[] {
  return hits.map(({ chunk, score }) => ({ id: chunk.chunk_id, score }));
}

/**
 * All groups in one ranking, best first. Lexical scores weigh words by all that is searched and compare as they are;
 * cosines of two embedders do not, so each dense leg is normalised by itself; with feedback its scores take the leg's
 * place. The least weight counts when embedders differ.
 * @param vectorWeight share of the dense leg, whatever the embedders understand
 */
export function fuseGroups(
  groups: readonly GroupHits[],
  vectorWeight?: number,
): { weight: number; results: RankedHit[] } {
  const lexical = new Map<string, CheckedHit>();
  const dense = new Map<string, CheckedHit>();
  for (const group of groups) {
    for (const hit of group.lexical) lexical.set(hit.chunk.chunk_id, hit);
    for (const hit of group.dense) if (!dense.has(hit.chunk.chunk_id)) dense.set(hit.chunk.chunk_id, hit);
  }
  const denseLeg = new Map(
    groups.flatMap(({ feedback, dense: leg }) =>
      scaleScores(feedback?.scores ?? legOf(leg)).map((hit) => [hit.id, hit] as const),
    ),
  );
  const weight = vectorWeight ?? Math.min(...groups.map(denseWeight));
  const results = convexCombination(legOf([...lexical.values()]), [...denseLeg.values()], {
    weight,
    normalize: scaleScores,
  }).flatMap(({ id, score }) => {
    const hit = lexical.get(id) ?? dense.get(id);
    if (hit === undefined) return [];
    const scores = {
      vectorScore: dense.get(id)?.score ?? null,
      lexicalScore: lexical.get(id)?.score ?? null,
    };
    return [{ chunk: hit.chunk, file: hit.file, version: hit.version, score, ...scores }];
  });
  return { weight, results };
}
