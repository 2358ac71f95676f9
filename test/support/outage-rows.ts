import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { OPERATIONS } from './cut-campaign.js';
import type { CutReport, Engine, Operation } from './cut-campaign.js';

const PAPER = join(fileURLToPath(new URL('../..', import.meta.url)), 'docs/operations.md');
const ENGINES: Readonly<Record<string, Engine>> = {
  MongoDB: 'mongodb',
  OpenSearch: 'opensearch',
  Redis: 'redis',
  Temporal: 'temporal',
  'model server': 'models',
  'central API': 'capi',
};

/** The statuses that `docs/operations.md` promises while an engine is away; its columns are in the same order. */
function promisedStatuses(engine: Engine): Map<Operation, readonly number[]> {
  for (const line of readFileSync(PAPER, 'utf8').split('\n')) {
    const [, name = '', ...cells] = line.split('|').map((cell) => cell.trim());
    const statuses = OPERATIONS.map((_name, at) => (cells[at]?.match(/\d{3}/g) ?? []).map(Number));
    if (ENGINES[name] === engine && statuses.every(({ length }) => length > 0))
      return new Map(OPERATIONS.map((operation, at) => [operation, statuses[at]!]));
  }
  throw new Error(`docs/operations.md has no row of ${engine}`);
}

/** Beyond the five seconds that a request waits for an engine, and what the machine takes besides. */
const MAX_WAIT_MS = 10_000;

/** Each operation was answered while the engine was away, as the paper says and soon; nothing taken was lost. */
export function expectRow(engine: Engine, { during, slowestMs, faults }: CutReport): void {
  const promised = promisedStatuses(engine);
  const others = OPERATIONS.flatMap((name) =>
    Object.keys(during[name])
      .filter((status) => promised.get(name)?.includes(Number(status)) !== true)
      .map((status) => `${name} answered ${status}`),
  );
  const silent = OPERATIONS.filter((name) => Object.keys(during[name]).length === 0);
  const slow = OPERATIONS.filter((name) => slowestMs[name] > MAX_WAIT_MS);
  expect({ others, silent, slow, faults }).toEqual({ others: [], silent: [], slow: [], faults: [] });
}
