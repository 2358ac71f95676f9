import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LanguageModel } from '../../../../activities/ports/models.js';
import { samplePng } from '../../../support/documents/sample-picture.js';
import { openModels } from '../../../support/model-server/open-models.js';
import type { OpenedModels } from '../../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { shownPictures } from '../../../support/model-server/shown-pictures.js';

const picture = { mimetype: 'image/png' as const, bytes: samplePng(3) };

function look(model: LanguageModel, signal?: AbortSignal) {
  return model.complete([{ role: 'user', content: 'What is it?', pictures: [picture] }], {
    temperature: 0,
    maxTokens: 50,
    ...(signal !== undefined && { signal }),
  });
}

describe.each(['ollama', 'openai'] as const)('a vision model, %s dialect', (provider) => {
  let server: ScriptedModelServer;
  let opened: OpenedModels;
  beforeAll(async () => {
    server = await startScriptedModelServer({ speaks: [provider], answer: () => 'A wall.' });
    opened = await openModels({ VLM_BASE_URL: server.url, VLM_MODEL: server.models.vlm, LLM_TIMEOUT: '2' });
  });
  afterEach(() => server.reset());
  afterAll(async () => {
    await opened.close();
    await server.close();
  });

  it('is shown the bytes of the picture beside the question', async () => {
    const model = await opened.registry.visionModel();
    expect(await look(model)).toMatchObject({ content: 'A wall.' });
    const [request] = server.asked('chat');
    expect(shownPictures(request!)).toEqual([picture.bytes]);
    const [message] = request!.body['messages'] as Record<string, unknown>[];
    const base64 = picture.bytes.toString('base64');
    if (provider === 'ollama') expect(message).toMatchObject({ content: 'What is it?', images: [base64] });
    else
      expect(message?.['content']).toEqual([
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
      ]);
  });

  it('is the default one, or one by its name, and not a language model', async () => {
    const { registry } = opened;
    expect((await registry.visionModel('default')).modelName).toBe(server.models.vlm);
    await expect(registry.visionModel('nobody')).rejects.toMatchObject({ code: 'MODEL_ENDPOINT_NOT_FOUND' });
    await expect(registry.languageModel('default')).resolves.toMatchObject({
      endpointName: 'builtin-extractive',
    });
  });

  it('may refuse pictures, be silent, or be left', async () => {
    const model = await opened.registry.visionModel();
    server.next('chat', { kind: 'status', status: 400, body: '{"error": "this model takes no images"}' });
    await expect(look(model)).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    server.next('chat', { kind: 'silence' });
    await expect(look(model)).rejects.toMatchObject({ code: 'INFERENCE_TIMEOUT' });
    server.next('chat', { kind: 'silence' });
    const left = new AbortController();
    const asked = look(model, left.signal);
    left.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});

describe('a model that does not see', () => {
  it('is not asked where its server says so: it would make something up', async () => {
    const server = await startScriptedModelServer({ sees: false });
    const opened = await openModels({ VLM_BASE_URL: server.url, VLM_MODEL: server.models.vlm });
    await expect(opened.registry.visionModel()).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    expect(server.asked('chat')).toEqual([]);
    server.models.sees = true;
    expect((await opened.registry.visionModel()).modelName).toBe(server.models.vlm);
    await opened.close();
    await server.close();
  });

  it('is none where none is registered', async () => {
    const opened = await openModels({});
    await expect(opened.registry.visionModel()).rejects.toMatchObject({ code: 'MODEL_ENDPOINT_NOT_FOUND' });
    await opened.close();
  });
});
