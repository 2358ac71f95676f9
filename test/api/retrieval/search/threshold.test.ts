import { describe, expect, it } from '@jest/globals';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { askJson } from '../../support/ask-json.js';
import type { LooseBody } from '../../support/loose-body.js';
import { searchStage } from '../../support/search-stage.js';
import { ADMIN_TOKEN } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

const { start, closes } = searchStage();

/** Nothing but the question itself is as near as that. */
const STRICT = 0.999;

/** Partitions `strict` and `lax`, whose embedders are the same model and differ in their threshold. */
async function startTwoThresholds(env: Record<string, string> = {}, lax: object = {}) {
  const server = await startScriptedModelServer();
  closes(() => server.close());
  const started = await start({ env });
  const { gateway, ada } = started;
  const admin = (method: string, path: string, body: unknown) =>
    askJson(gateway, method, path, { token: ADMIN_TOKEN, body });
  for (const [name, extra] of [
    ['strict', { similarity_threshold: STRICT }],
    ['lax', lax],
  ] as const) {
    const [status] = await admin('POST', '/model-endpoints/', {
      name,
      model_type: 'embedder',
      endpoint: server.url,
      model_name: 'scripted-embedder',
      extra,
    });
    expect(status).toBe(201);
    await gateway.call('POST', `/partition/${name}`, { token: ada.token });
    await askJson(gateway, 'PATCH', `/partition/${name}`, { token: ada.token, body: { embedder: name } });
    await indexText(gateway, { partition: name, fileId: name, token: ada.token }, [
      'The turbine hums all night.',
    ]);
  }
  /** The partitions whose chunk the vector leg found. */
  const near = async (query = ''): Promise<string[]> => {
    const [status, body] = await started.ask(`/search?text=turbine${query}`);
    expect([status, body.documents.length]).toEqual([200, 2]);
    return body.documents.flatMap(({ metadata }: LooseBody) =>
      metadata.vector_score === undefined ? [] : metadata.partition,
    );
  };
  return { ...started, admin, near };
}

describe("an embedder's own similarity_threshold", () => {
  it('holds where the request names none, for its own partitions alone', async () => {
    const { near } = await startTwoThresholds();
    expect(await near()).toEqual(['lax']);
    expect((await near('&similarity_threshold=0')).sort()).toEqual(['lax', 'strict']);
    expect(await near(`&similarity_threshold=${STRICT}`)).toEqual([]);
  });

  it('goes before SIMILARITY_THRESHOLD, 0 included', async () => {
    const unsaid = await startTwoThresholds({ SIMILARITY_THRESHOLD: String(STRICT) });
    expect(await unsaid.near()).toEqual([]);
    const zero = await startTwoThresholds(
      { SIMILARITY_THRESHOLD: String(STRICT) },
      { similarity_threshold: 0 },
    );
    expect(await zero.near()).toEqual(['lax']);
  });

  it('is a number from 0 to 1, and an edit counts at once', async () => {
    const { admin, near } = await startTwoThresholds();
    for (const similarity_threshold of [1.5, -0.1, '0.5'])
      expect(
        (await admin('PUT', '/model-endpoints/embedder/strict', { extra: { similarity_threshold } }))[0],
      ).toBe(422);
    expect((await admin('PUT', '/model-endpoints/embedder/strict', { extra: {} }))[0]).toBe(200);
    expect((await near()).sort()).toEqual(['lax', 'strict']);
  });
});
