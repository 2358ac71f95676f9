import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { samplePng } from '../support/documents/sample-picture.js';
import { writeDocx } from '../support/documents/write-docx.js';
import { modelEnvironment } from '../support/model-server/open-models.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { shownPictures } from '../support/model-server/shown-pictures.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

const HANDBOOK = [
  '# The keeper’s handbook',
  'The millstones are dressed every 300 hours of grinding.',
  'A ticket for the café costs nine euros.',
  'The dam above the mill was built in 1931.',
].join('\n\n');

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;
let server: ScriptedModelServer;

beforeAll(async () => {
  server = await startScriptedModelServer({
    dimension: 96,
    answer: () => 'Every 300 hours of grinding. [Source 1]\n[Sources: 1]',
  });
  stack = await openStack({
    ...modelEnvironment(server),
    EMBEDDER_TIMEOUT: '20',
    LLM_TIMEOUT: '5',
    EMBEDDER_BATCH_SIZE: '4',
    VLM_BASE_URL: server.url,
    VLM_MODEL: server.models.vlm,
    TRANSCRIBER_BASE_URL: server.url,
    TRANSCRIBER_MODEL: server.models.stt,
    // What the model is asked first is the answer.
    RAG_MODE: 'SimpleRag',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
beforeEach(() => {
  server.reset();
  server.models.msPerWord = 0;
});
afterAll(async () => {
  await stack?.close();
  await server.close();
}, 60_000);

function ask(body: object, signal?: AbortSignal): Promise<Response> {
  return stack.request('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'rag-mill',
      messages: [{ role: 'user', content: 'How often are the millstones dressed?' }],
      ...body,
    }),
    ...(signal !== undefined && { signal }),
  });
}

interface Chunk {
  choices?: { delta: { content?: string }; finish_reason: string | null }[];
  extra?: { sources?: { chunk: { file_id: string } }[]; truncated?: boolean };
  error?: { code: string; type: string };
}

function eventsOf(text: string): (Chunk | 'DONE')[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice(6))
    .map((data) => (data === '[DONE]' ? 'DONE' : (JSON.parse(data) as Chunk)));
}

function contentOf(events: readonly (Chunk | 'DONE')[]): string {
  return events.map((event) => (event === 'DONE' ? '' : (event.choices?.[0]?.delta.content ?? ''))).join('');
}

describe('the main job with a model server, of a dimension of its own', () => {
  it('indexes a file with its embedder, and finds it by its vectors', async () => {
    const url = await client.upload('POST', 'mill', 'handbook', HANDBOOK, 'handbook.md');
    expect(await client.ended(url)).toMatchObject({ task_state: 'COMPLETED' });
    expect(server.asked('embed').length).toBeGreaterThan(0);
    const endpoint = (await stack.adapters.models.list('embedder')).find(({ is_default }) => is_default);
    expect(endpoint).toMatchObject({
      name: 'default',
      dimension: 96,
      provider: 'ollama',
      text_form: 'wordpiece',
    });
    const [hit] = await client.search('/search/partition/mill', { text: 'millstones dressed hours' });
    expect(hit?.metadata['file_id']).toBe('handbook');
    expect(hit?.metadata['vector_score']).toBeGreaterThan(0.2);
    const sent = JSON.stringify(server.asked('embed').map(({ body }) => body['input']));
    expect(sent).toContain("keeper's handbook");
    expect(sent).not.toContain('café');
  });

  it('takes a preset that an administrator made: chunks in context, topics, a size of its own', async () => {
    const send = async (method: string, path: string, body: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      return (await stack.request(path, { method, headers, body: JSON.stringify(body) })).status;
    };
    const config = {
      chunking: { name: 'structured_section', chunk_size: 32, chunk_overlap_rate: 0 },
      enable_contextualization: true,
      contextualization_mode: 'simple',
      enable_topic_tagging: true,
    };
    expect(await send('POST', '/presets/', { name: 'rich', preset_type: 'indexation', config })).toBe(201);
    expect(await send('POST', '/partition/rich', {})).toBe(201);
    expect(await send('PATCH', '/partition/rich', { indexation_preset: 'rich' })).toBe(200);
    const usual = server.models.answer;
    server.models.answer = ([message]) =>
      message?.content.includes('JSON array') === true ? '["Milling"]' : 'Said of the mill.';
    const url = await client.upload('POST', 'rich', 'handbook', HANDBOOK, 'handbook.md');
    expect(await client.ended(url)).toMatchObject({ task_state: 'COMPLETED' });
    server.models.answer = usual;
    const inputs = server.asked('embed').flatMap(({ body }) => body['input'] as string[]);
    expect(inputs.filter((text) => text.startsWith('Said of the mill.')).length).toBeGreaterThan(1);
    const [hit] = await client.search('/search/partition/rich', { text: 'millstones dressed hours' });
    expect(hit).toMatchObject({ metadata: { topic_tags: ['Milling'] } });
    expect(hit?.content).not.toContain('Said of');
    const degraded = await stack.request('/partition/rich?degraded_stage=contextualize');
    expect(await degraded.json()).toEqual({ files: [] });
  });

  describe('has pictures described where a vision model is configured', () => {
    const picture = samplePng(77);
    const catalogue = (text: string) =>
      new Uint8Array(
        writeDocx(
          [{ heading: 'Catalogue', level: 1 }, { paragraph: text }, { picture: 'a.png' }],
          [{ name: 'word/media/a.png', content: picture }],
        ),
      );
    const usual = () => server.models.answer;
    let before: ReturnType<typeof usual>;
    beforeEach(() => void (before = usual()));
    afterEach(() => void (server.models.answer = before));
    const live = async (fileId: string) => (await stack.adapters.files.get('mill', fileId))?.live;

    it('and finds them by what was said', async () => {
      server.models.answer = () => 'A waterwheel of oak with twelve paddles.';
      const url = await client.upload('POST', 'mill', 'described', catalogue('Parts for sale.'), 'c.docx');
      expect(await client.ended(url)).toMatchObject({ task_state: 'COMPLETED' });
      expect(server.asked('chat').flatMap(shownPictures)).toEqual([picture]);
      const [hit] = await client.search('/search/partition/mill', { text: 'oak paddles waterwheel' });
      expect(hit).toMatchObject({
        content: '<image_description>\nA waterwheel of oak with twelve paddles.\n</image_description>',
        metadata: { file_id: 'described', chunk_type: 'image' },
      });
      expect(await live('described')).toMatchObject({ chunk_count: 2, degraded_stages: [] });
    });

    it('and is COMPLETED without, and says so, when the model refuses them', async () => {
      server.always('chat', { kind: 'status', status: 400, body: '{"error": "no images, please"}' });
      const url = await client.upload('POST', 'mill', 'refused', catalogue('Parts for rent.'), 'c.docx');
      expect(await client.ended(url)).toMatchObject({
        task_state: 'COMPLETED',
        degraded_stages: ['caption'],
      });
      const listed = await (await stack.request('/partition/mill?degraded_stage=caption')).json();
      expect(listed).toMatchObject({ files: [{ file_id: 'refused' }] });
      expect(await live('refused')).toMatchObject({ chunk_count: 1 });
    });

    it('and stops with a cancel in the middle, with nothing left', async () => {
      server.always('chat', { kind: 'silence' });
      const url = await client.upload('POST', 'mill', 'cancelled', catalogue('Parts lost.'), 'c.docx');
      await until('the model is asked', async () => server.asked('chat').length === 1);
      const task = await stack.adapters.tasks.get((await client.task(url)).task_id);
      expect(task?.stage).toBe('caption');
      expect((await stack.request(url, { method: 'DELETE' })).status).toBe(200);
      await until('the model is left', async () => server.asked('chat')[0]?.aborted === true, {
        withinMs: 5000,
      });
      await until('its bytes are gone', async () => {
        return (await stack.adapters.blobs.listByFile(task!.file_key)).length === 0;
      });
      expect((await client.task(url)).task_state).toBe('CANCELLED');
    });
  });

  describe('has recordings transcribed where a speech model is configured', () => {
    const recording = () => new Uint8Array(Buffer.from(`RIFF....WAVEfmt ${performance.now()}`));

    it('and lists them among what it reads', async () => {
      const types = (await (await stack.request('/indexer/supported/types')).json()) as Record<
        string,
        string[]
      >;
      expect(types['extensions']).toEqual(expect.arrayContaining(['mp3', 'wav', 'mp4']));
      expect(types['mimetypes']).toEqual(expect.arrayContaining(['audio/mpeg', 'video/mp4']));
    });

    it('and finds them by what is said, with the time', async () => {
      server.models.segments = [
        { start: 0, end: 4, text: ' Welcome to the archive of the weir.' },
        { start: 61.5, end: 66, text: ' The sluice was rebuilt by Odalric.' },
      ];
      const url = await client.upload('POST', 'mill', 'talk', recording(), 'A talk.wav');
      expect(await client.ended(url)).toMatchObject({ task_state: 'COMPLETED' });
      const [hit] = await client.search('/search/partition/mill', { text: 'sluice Odalric' });
      expect(hit?.metadata['file_id']).toBe('talk');
      expect(hit?.content).toContain('[0:01:01] The sluice was rebuilt by Odalric.');
      const file = await (await stack.request('/partition/mill/file/talk')).json();
      expect(file).toMatchObject({
        parse_report: { parser: 'transcription', parser_version: 'scripted-stt', degraded: false },
      });
      expect(server.asked('transcribe')[0]?.body['file']).toMatchObject({
        name: 'recording.wav',
        type: 'audio/wav',
      });
    });

    it('and fails with what the model says of a file that it refuses', async () => {
      server.always('transcribe', { kind: 'status', status: 400, body: '{"error": "no sound in it"}' });
      const url = await client.upload('POST', 'mill', 'refused-talk', recording(), 'talk.mp3');
      expect(await client.ended(url)).toMatchObject({
        task_state: 'FAILED',
        error: { code: 'UNSUPPORTED_CONTENT', message: expect.stringContaining('no sound in it') },
      });
    });

    it('and fails with a code of its own where nothing is said', async () => {
      server.models.segments = [];
      const url = await client.upload('POST', 'mill', 'silent-talk', recording(), 'talk.ogg');
      expect(await client.ended(url)).toMatchObject({
        task_state: 'FAILED',
        error: { code: 'NO_INDEXABLE_CONTENT' },
      });
    });

    it('and stops within five seconds of a cancel, with nothing left', async () => {
      server.always('transcribe', { kind: 'silence' });
      const url = await client.upload('POST', 'mill', 'cancelled-talk', recording(), 'talk.mp4');
      await until('the model is asked', async () => server.asked('transcribe').length === 1);
      const task = await stack.adapters.tasks.get((await client.task(url)).task_id);
      expect((await stack.request(url, { method: 'DELETE' })).status).toBe(200);
      await until('the model is left', async () => server.asked('transcribe')[0]?.aborted === true, {
        withinMs: 5000,
      });
      await until('its bytes are gone', async () => {
        return (await stack.adapters.blobs.listByFile(task!.file_key)).length === 0;
      });
    });
  });

  it('streams an answer with its sources', async () => {
    const events = eventsOf(await (await ask({ stream: true })).text());
    expect(contentOf(events).trim()).toBe('Every 300 hours of grinding. [Source 1]');
    expect(events.at(-1)).toBe('DONE');
    const finish = events.findLast(
      (event) => event !== 'DONE' && event.choices?.[0]?.finish_reason === 'stop',
    );
    expect(finish).toMatchObject({ extra: { sources: [{ chunk: { file_id: 'handbook' } }] } });
    const asked = server.asked('chat')[0]?.body;
    expect(asked).toMatchObject({
      messages: [{ role: 'system', content: expect.stringContaining('[Source 1]') }, { role: 'user' }],
      options: { num_ctx: 512 },
    });
  });

  it('a client that leaves stops the model within a second', async () => {
    server.models.msPerWord = 20;
    server.next('chat', { kind: 'pause', afterWords: 5 });
    const controller = new AbortController();
    const response = await ask({ stream: true, model: '' }, controller.signal);
    await response.body!.getReader().read();
    await until('the model is talking', async () => server.asked('chat').length === 1);
    controller.abort();
    await until('the model is stopped', async () => server.asked('chat')[0]?.aborted === true, {
      withinMs: 1000,
      everyMs: 10,
    });
  });

  it('a model that fails in the middle: what was said stands, the event says why, and the stream ends', async () => {
    // More than is held back for the citation line.
    const said = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    server.models.answer = () => said;
    server.next('chat', { kind: 'error', afterWords: 40 });
    const events = eventsOf(await (await ask({ stream: true })).text());
    expect(contentOf(events)).toBe(said.slice(0, said.indexOf(' word40')));
    expect(events.at(-1)).toBe('DONE');
    expect(events.at(-2)).toMatchObject({ error: { type: 'error', code: 'INFERENCE_ERROR' } });
    expect(events.some((event) => event !== 'DONE' && event.extra?.truncated === true)).toBe(true);
  });

  it('a model that is refused or silent has its status before the first word', async () => {
    server.next('chat', { kind: 'status', status: 401 });
    expect((await ask({ stream: true })).status).toBe(502);
    server.next('chat', { kind: 'silence' });
    expect((await ask({})).status).toBe(504);
  });

  it('an embedder that is away for a while costs the task nothing but the while', async () => {
    server.always('embed', { kind: 'status', status: 503 });
    const url = await client.upload('POST', 'mill', 'second', 'Another note on the weir.', 'second.txt');
    await until('the embedder was asked', async () => server.asked('embed').length > 0);
    server.always('embed', null);
    expect(await client.ended(url)).toMatchObject({ task_state: 'COMPLETED' });
  });

  it('is ready, and says so of both models', async () => {
    const body = await (await stack.request('/ready')).json();
    expect(body).toMatchObject({ status: 'ready', checks: { embedder: 'ok', llm: 'ok' } });
  });
});
