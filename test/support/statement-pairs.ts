import { readFileSync } from 'node:fs';
import { checkClaim, readSource } from '../../activities/retrieval/verification/check-claim.js';
import { readStatement } from '../../activities/retrieval/verification/read-statement.js';

const DATA = new URL('../bench/data/verification/', import.meta.url);

/** A claim beside a source that supports it, or that seems to. */
export interface StatementPair {
  id: string;
  language: 'en' | 'fr';
  source: string;
  claim: string;
  supported: boolean;
  /** What is wrong with it; null when nothing is. */
  fault: 'number' | 'name' | 'negation' | 'roles' | null;
}

export function readPairs(set: 'fitted' | 'held-out'): StatementPair[] {
  const lines = readFileSync(new URL(`${set}.jsonl`, DATA), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as StatementPair);
}

/** How the checker judges pairs. Precision: of those it holds to be supported; recall: of those that are. */
export function judgePairs(pairs: readonly StatementPair[]) {
  const judged = pairs.map((pair) => ({
    pair,
    holds: checkClaim(readStatement(pair.claim), readSource(pair.source)) === null,
  }));
  const held = judged.filter(({ holds }) => holds);
  const right = held.filter(({ pair }) => pair.supported).length;
  return {
    precision: right / held.length,
    recall: right / pairs.filter(({ supported }) => supported).length,
    wrong: judged.filter(({ pair, holds }) => pair.supported !== holds).map(({ pair }) => pair),
  };
}
