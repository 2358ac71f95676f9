import { describe, expect, it } from '@jest/globals';
import { ERROR_TABLE } from '../../../../schemas/error-table.js';
import { askJson } from '../../support/ask-json.js';
import { searchStage } from '../../support/search-stage.js';
import { indexText, uploadForm } from '../../support/uploads.js';

const { start } = searchStage();

const SENTENCE = ERROR_TABLE.DEFAULT_EMBEDDER_MIGRATION_REQUIRED.message;

describe('a partition of an earlier release that is not tied to an embedder', () => {
  const startUntied = async () => {
    const { gateway, ada } = await start();
    const { token } = ada;
    await indexText(gateway, { partition: 'p', fileId: 'a', token }, ['one']);
    await indexText(gateway, { partition: 'q', fileId: 'a', token }, ['one']);
    await gateway.adapters.partitions.update('p', { embedder: 'default' });
    const answerOf = async (method: string, path: string, body?: FormData) => {
      const response = await gateway.call(method, path, { token, ...(body && { body }) });
      return [response.status, await response.text()] as const;
    };
    const chat = (model: string) =>
      askJson(gateway, 'POST', '/v1/chat/completions', {
        body: { model, messages: [{ role: 'user', content: 'What is said about one?' }] },
        token,
      });
    return { gateway, answerOf, chat };
  };

  it('answers searches, uploads and chats with what to do', async () => {
    const { answerOf, chat } = await startUntied();
    for (const [method, path, body] of [
      ['GET', '/search?text=one'],
      ['GET', '/search/partition/p?text=one'],
      ['GET', '/search/partition/p/file/a?text=one'],
      ['POST', '/indexer/partition/p/file/new', uploadForm()],
      ['PUT', '/indexer/partition/p/file/a', uploadForm()],
    ] as const) {
      const [status, text] = await answerOf(method, path, body);
      expect([path, status]).toEqual([path, 503]);
      expect(text).toContain(`[DEFAULT_EMBEDDER_MIGRATION_REQUIRED]: ${SENTENCE}`);
    }
    const [status, { detail }] = await chat('rag-p');
    expect([status, detail]).toEqual([503, expect.stringContaining(SENTENCE)]);
  });

  it('leaves other partitions, and what needs no embedder, as they are', async () => {
    const { answerOf, chat } = await startUntied();
    for (const [method, path, expected] of [
      ['GET', '/search/partition/q?text=one', 200],
      ['GET', '/partition/p', 200],
      ['GET', '/partition/p/file/a', 200],
      ['DELETE', '/indexer/partition/p/file/a', 204],
    ] as const)
      expect([path, (await answerOf(method, path))[0]]).toEqual([path, expected]);
    expect((await answerOf('POST', '/indexer/partition/q/file/new', uploadForm()))[0]).toBe(201);
    expect((await chat('rag-q'))[0]).toBe(200);
  });
});
