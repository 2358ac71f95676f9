import { describe, expect, test } from '@jest/globals';
import { prepareIndex } from '../../../activities/stores/opensearch/prepare-index.js';
import { AppError } from '../../../schemas/app-error.js';
import { AccessProblem } from '../../../schemas/engine-access.js';
import { until } from '../../support/until.js';

/** A store whose answers to the first calls are these errors. */
function failing(...errors: AppError[]) {
  const asked: string[] = [];
  return {
    asked,
    async ensureSchema(): Promise<void> {
      asked.push('schema');
      const error = errors.shift();
      if (error !== undefined) throw error;
    },
    async ownerOf(recordStore: string): Promise<string> {
      asked.push('owner');
      return recordStore;
    },
  };
}

const AWAY = new AppError('VDB_CONNECTION_ERROR');

describe('the index at the start of a process', () => {
  const closing = new AbortController();
  const prepare = (chunks: ReturnType<typeof failing>, signal = closing.signal): Promise<void> =>
    prepareIndex(chunks, { fields: [], recordStore: 'ours', signal, againMs: 1 });

  test('is made sure of later where the engine is away', async () => {
    const chunks = failing(AWAY, AWAY);
    await prepare(chunks);
    expect(chunks.asked).toEqual(['schema']);
    await until('it has an owner', async () => chunks.asked.includes('owner'));
    expect(chunks.asked).toEqual(['schema', 'schema', 'schema', 'owner']);
  });

  test('is left to the next start once the process ends', async () => {
    const ended = new AbortController();
    const chunks = failing(AWAY);
    ended.abort();
    await prepare(chunks, ended.signal);
    // A later one has had its turn.
    await prepare(failing());
    expect(chunks.asked).toEqual(['schema']);
  });

  test.each([
    ['credentials', new AppError('VDB_CONNECTION_ERROR', undefined, { cause: new AccessProblem('refused') })],
    ['a newer release', new AppError('VDB_COLLECTION_ERROR')],
  ])('ends the process where it is refused for %s', async (_name, error) => {
    await expect(prepare(failing(error))).rejects.toBe(error);
  });
});
