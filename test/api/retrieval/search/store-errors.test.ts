import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../../../schemas/app-error.js';
import { searchStage } from '../../support/search-stage.js';
import { indexText, uploadForm } from '../../support/uploads.js';

const { start } = searchStage();

describe('errors of the vector store', () => {
  /** Vector-store errors return their own status and code (agreed description, "Errors"). */
  const startFailing = async (error: AppError) => {
    const failing = { now: false };
    const fail = (): void => {
      if (failing.now) throw error;
    };
    const started = await start({
      adapt: (own) => ({
        ...own,
        chunks: {
          ...own.chunks,
          requireSchema: async () => {
            if (error.code === 'VDB_SCHEMA_MIGRATION_REQUIRED') fail();
          },
          searchWords: async (request) => {
            fail();
            return own.chunks.searchWords(request);
          },
        },
      }),
    });
    await indexText(started.gateway, { partition: 'p', fileId: 'a', token: started.ada.token }, ['one']);
    failing.now = true;
    return started;
  };

  it.each([
    ['VDB_CONNECTION_ERROR', 503],
    ['VDB_SEARCH_ERROR', 422],
    ['VDB_COLLECTION_ERROR', 422],
    ['VDB_ERROR', 500],
    ['VDB_SCHEMA_MIGRATION_REQUIRED', 503],
  ] as const)('%s answers %d', async (code, status) => {
    const { ask } = await startFailing(new AppError(code));
    for (const path of ['/search', '/search/partition/p', '/search/partition/p/file/a']) {
      const [answered, body] = await ask(`${path}?text=one`);
      expect([path, answered]).toEqual([path, status]);
      expect(body.detail).toMatch(new RegExp(`^\\[${code}\\]: `));
    }
  });

  it('before the migration uploads are refused, and what needs no search goes on', async () => {
    const { gateway, ada } = await startFailing(new AppError('VDB_SCHEMA_MIGRATION_REQUIRED'));
    const { token } = ada;
    const statusOf = async (method: string, path: string, body?: FormData): Promise<number> =>
      (await gateway.call(method, path, { token, ...(body && { body }) })).status;
    expect(await statusOf('POST', '/indexer/partition/p/file/new', uploadForm())).toBe(503);
    expect(await statusOf('PUT', '/indexer/partition/p/file/a', uploadForm())).toBe(503);
    expect(await statusOf('GET', '/ready')).toBe(200);
    expect(await statusOf('GET', '/partition/p')).toBe(200);
    const metadata = new FormData();
    metadata.set('metadata', '{"owner":"ada"}');
    expect(await statusOf('PATCH', '/indexer/partition/p/file/a', metadata)).toBe(200);
    expect(await statusOf('DELETE', '/indexer/partition/p/file/a')).toBe(204);
  });
});
