/**
 * `npm run bench:verification`: how well sentences of answers are told apart from those that say something else than
 * their source: precision and recall of "supported", by kind of fault and language, without any model.
 */
import { judgePairs, readPairs } from '../support/statement-pairs.js';
import type { StatementPair } from '../support/statement-pairs.js';
import { reportBench } from './bench-report.js';

const rows: Record<string, string | number>[] = [];

function add(set: string, which: string, pairs: readonly StatementPair[]): void {
  const { precision, recall, wrong } = judgePairs(pairs);
  rows.push({
    set,
    pairs: which,
    count: pairs.length,
    precision: precision.toFixed(3),
    recall: recall.toFixed(3),
    wrong: wrong.map(({ id }) => id).join(' '),
  });
}

for (const set of ['fitted', 'held-out'] as const) {
  const pairs = readPairs(set);
  add(set, 'all', pairs);
  for (const language of ['en', 'fr'])
    add(
      set,
      language,
      pairs.filter((pair) => pair.language === language),
    );
  for (const fault of ['number', 'name', 'negation', 'roles']) {
    const sources = new Set(pairs.filter((pair) => pair.fault === fault).map(({ source }) => source));
    add(
      set,
      fault,
      pairs.filter(({ source }) => sources.has(source)),
    );
  }
}
reportBench('verification', 'Checking sentences against their sources, without a model', rows);
