import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Recording, Transcriber } from '../../../activities/ports/models.js';
import type { Behaviour } from '../../support/model-server/behaviour.js';
import { openModels } from '../../support/model-server/open-models.js';
import type { OpenedModels } from '../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import { until } from '../../support/until.js';

const KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');

let directory: string;
let recording: Recording;
let server: ScriptedModelServer;
let models: OpenedModels | undefined;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tamis-recording-'));
  recording = { path: join(directory, 'upload.mp3'), extension: 'mp3', mimetype: 'audio/mpeg' };
  await writeFile(recording.path, Buffer.from('ID3 and sound'));
});
beforeEach(async () => {
  server = await startScriptedModelServer({
    segments: [
      // Out of order, as servers answer that cut a recording and work on its parts at once.
      { start: 3, end: 6, text: ' Tickets cost nine euros.' },
      { start: 0, end: 2.5, text: ' The mill opens at nine.' },
    ],
  });
});
afterEach(async () => {
  await models?.close();
  await server.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function open(environment: Record<string, string> = {}): Promise<Transcriber> {
  models = await openModels({
    TRANSCRIBER_BASE_URL: `${server.url}/v1`,
    TRANSCRIBER_MODEL: server.models.stt,
    ...environment,
  });
  const transcriber = await models.registry.transcriber();
  if (transcriber === null) throw new Error('no transcriber');
  return transcriber;
}

describe('a model that transcribes', () => {
  test('is none where none is configured', async () => {
    models = await openModels({});
    expect(await models.registry.transcriber()).toBeNull();
    await expect(models.registry.transcriber('gone')).rejects.toMatchObject({
      code: 'MODEL_ENDPOINT_NOT_FOUND',
    });
  });

  test('is sent the bytes under a name of ours, and answers with times in their order', async () => {
    const transcriber = await open();
    expect(transcriber).toMatchObject({ endpointName: 'default', modelName: 'scripted-stt' });
    expect(await transcriber.transcribe(recording, { prompt: 'Mill, dam.' })).toEqual({
      text: 'Tickets cost nine euros. The mill opens at nine.',
      segments: [
        { start: 0, end: 2.5, text: ' The mill opens at nine.' },
        { start: 3, end: 6, text: ' Tickets cost nine euros.' },
      ],
    });
    expect(server.asked('transcribe').map(({ body }) => body)).toEqual([
      {
        file: { name: 'recording.mp3', type: 'audio/mpeg', bytes: Buffer.from('ID3 and sound') },
        model: 'scripted-stt',
        response_format: 'verbose_json',
        prompt: 'Mill, dam.',
      },
    ]);
  });

  test('that knows no times is asked for the text alone', async () => {
    server.models.timed = false;
    const transcriber = await open();
    expect(await transcriber.transcribe(recording, { prompt: null })).toEqual({
      text: 'Tickets cost nine euros. The mill opens at nine.',
      segments: [],
    });
    expect(server.asked('transcribe').map(({ body }) => body['response_format'])).toEqual([
      'verbose_json',
      'json',
    ]);
    expect(server.asked('transcribe')[0]?.body).not.toHaveProperty('prompt');
  });

  test('gets its key as a bearer token', async () => {
    server.models.apiKey = 'sk-transcribe';
    const transcriber = await open({ TRANSCRIBER_API_KEY: 'sk-transcribe', SECRETS_KEY: KEY });
    expect((await transcriber.transcribe(recording, { prompt: null })).segments).toHaveLength(2);
  });

  const answered = (body: unknown): Behaviour => ({
    kind: 'status',
    status: 200,
    body: JSON.stringify(body),
  });

  test('whose times cannot be read still gives its text', async () => {
    server.next('transcribe', answered({ text: 'Words.', segments: [{ start: 'soon', text: 'Words.' }] }));
    const transcriber = await open();
    expect(await transcriber.transcribe(recording, { prompt: null })).toEqual({
      text: 'Words.',
      segments: [],
    });
  });

  test.each<[string, Behaviour, string, RegExp]>([
    ['takes no file of this size', { kind: 'status', status: 413 }, 'FILE_TOO_COMPLEX', /scripted 413/],
    ['does not know the format', { kind: 'status', status: 400 }, 'UNSUPPORTED_CONTENT', /scripted 400/],
    ['refuses our key', { kind: 'status', status: 401 }, 'INFERENCE_REFUSED', /credentials/],
    ['is a page of a proxy', { kind: 'html' }, 'LLM_PARSING_ERROR', /instead of JSON/],
    ['answers without a text', answered({ segments: [] }), 'LLM_PARSING_ERROR', /transcript/],
  ])('is told apart when it %s', async (_name, behaviour, code, message) => {
    server.always('transcribe', behaviour);
    const transcriber = await open();
    await expect(transcriber.transcribe(recording, { prompt: null })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test('is asked again, with the whole file, when the line was cut', async () => {
    server.next('transcribe', { kind: 'cut' });
    const transcriber = await open();
    expect((await transcriber.transcribe(recording, { prompt: null })).segments).toHaveLength(2);
    const sizes = server
      .asked('transcribe')
      .map(({ body }) => (body['file'] as { bytes: Buffer }).bytes.length);
    expect(sizes).toEqual([13, 13]);
  });

  test('stops when its caller leaves', async () => {
    server.next('transcribe', { kind: 'silence' });
    const transcriber = await open();
    const caller = new AbortController();
    const asked = transcriber.transcribe(recording, { prompt: null, signal: caller.signal });
    await until('the model is asked', async () => server.asked('transcribe').length === 1);
    caller.abort(new Error('cancelled'));
    await expect(asked).rejects.toThrow('cancelled');
    await until('the model is left', async () => server.asked('transcribe')[0]?.aborted === true);
  });
});
