import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writeDocxBomb } from '../support/documents/write-docx.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { writeZip } from '../support/documents/write-zip.js';
import { footprint } from '../support/footprint.js';
import { generatedText } from '../support/generated-text.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { until } from '../support/until.js';

const MEGABYTE = 1024 * 1024;
const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02', 'hex');

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  stack = await openStack({ MAX_UPLOAD_SIZE_MB: '24' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
  const url = await client.upload('POST', 'known', 'present', 'A heron stands in the shallows.', 'heron.txt');
  expect((await client.ended(url)).task_state).toBe('COMPLETED');
}, 180_000);
afterAll(() => stack?.close(), 60_000);

function bytes(content: Buffer | string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(content));
}

async function answerOf(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { detail: unknown }).detail];
}

function form(
  parts: Record<string, string>,
  file: { content?: Buffer | string; name?: string; field?: string } = {},
): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(parts)) body.append(name, value);
  body.append(
    file.field ?? 'file',
    new Blob([bytes(file.content ?? 'some text')]),
    file.name ?? 'upload.txt',
  );
  return body;
}

function post(body: FormData, path = 'fresh/file/bad'): Promise<Response> {
  return stack.request(`/indexer/partition/${path}`, { method: 'POST', body });
}

describe('who is not let in', () => {
  it.each([
    ['no token', {}, 'Missing token'],
    ['an unknown token', { authorization: 'Bearer wrong-token-0000' }, 'Invalid token'],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, 'Invalid token'],
  ])('%s: 403 on every kind of route, and nothing is done', async (_what, headers, detail) => {
    const before = await footprint(stack);
    for (const [method, path] of [
      ['POST', '/partition/intruded'],
      ['GET', '/partition/'],
      ['POST', '/indexer/partition/intruded/file/a'],
      ['PUT', '/indexer/partition/known/file/present'],
      ['DELETE', '/indexer/partition/known/file/present'],
      ['GET', '/search/?text=heron'],
      ['POST', '/v1/chat/completions'],
    ] as const) {
      const body = path.includes('/file/') && method !== 'DELETE' ? { body: form({}) } : {};
      const response = await fetch(`${stack.base}${path}`, { method, headers, ...body });
      expect([path, ...(await answerOf(response))]).toEqual([path, 403, detail]);
    }
    expect(await footprint(stack)).toEqual(before);
  });
});

describe('what is not there', () => {
  const missing = "Partition 'nowhere' not found";
  it.each([
    ['GET', '/partition/nowhere', missing],
    ['GET', '/partition/nowhere/file/a', missing],
    ['GET', '/search/partition/nowhere?text=x', missing],
    ['GET', '/search/partition/nowhere/file/a?text=x', missing],
    ['GET', '/search/partition/known/file/absent?text=x', "File 'absent' not found in partition 'known'"],
    ['GET', '/partition/known/file/absent', "File 'absent' not found in partition 'known'"],
    ['DELETE', '/indexer/partition/nowhere/file/a', "File 'a' not found in partition 'nowhere'"],
    ['GET', '/indexer/task/no-such-task', "Task 'no-such-task' not found"],
    ['DELETE', '/indexer/task/no-such-task', "Task 'no-such-task' not found"],
    ['GET', '/extract/no-such-extract', "Extract 'no-such-extract' not found"],
  ])('%s %s: 404', async (method, path, detail) => {
    expect(await answerOf(await stack.request(path, { method }))).toEqual([404, detail]);
  });

  it('a name in a search over several partitions: 403, as for one that is somebody else’s', async () => {
    const response = await stack.request('/search/?text=x&partitions=nowhere');
    expect(await answerOf(response)).toEqual([403, "Access to partition 'nowhere' forbidden"]);
  });

  it('a PUT of a file that is not there: 404, and no partition comes of it', async () => {
    const response = await stack.request('/indexer/partition/nowhere/file/a', {
      method: 'PUT',
      body: form({}),
    });
    expect(await answerOf(response)).toEqual([404, "File 'a' not found in partition 'nowhere'"]);
    expect((await stack.request('/partition/nowhere')).status).toBe(404);
  });
});

describe('a chat request', () => {
  const ask = { model: 'rag-known', messages: [{ role: 'user', content: 'Where is the heron?' }] };
  const chat = (body: object | string, type = 'application/json') =>
    stack.request('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('is answered when it is well formed', async () => {
    expect((await chat(ask)).status).toBe(200);
  });

  it.each<[string, () => Promise<Response>, number]>([
    ['without a JSON content type', () => chat(JSON.stringify(ask), 'text/plain'), 422],
    ['of broken JSON', () => chat('{"messages": ['), 422],
    ['that is a list', () => chat([] as object), 422],
    ['without messages', () => chat({ model: 'rag-known' }), 422],
    [
      'whose last message is not the user’s',
      () => chat({ ...ask, messages: [...ask.messages, { role: 'assistant', content: 'Here.' }] }),
      400,
    ],
    ['of an empty question', () => chat({ ...ask, messages: [{ role: 'user', content: '' }] }), 400],
    ['of an unknown model', () => chat({ ...ask, model: 'gpt-of-somebody-else' }), 404],
    ['of an unknown partition', () => chat({ ...ask, model: 'rag-nowhere' }), 404],
    ['of an unknown model, streamed', () => chat({ ...ask, model: 'rag-nowhere', stream: true }), 404],
  ])('%s is refused', async (_what, send, status) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(await response.json()).toHaveProperty('detail');
  });
});

describe('a refused upload leaves nothing, not even its partition', () => {
  let before: Record<string, number>;
  beforeEach(async () => {
    before = await footprint(stack);
  });
  const refused = async (response: Response, status: number, detail: unknown): Promise<void> => {
    expect(await answerOf(response)).toEqual([status, detail]);
    expect(await footprint(stack)).toEqual(before);
    expect((await stack.request('/partition/fresh')).status).toBe(404);
  };

  it.each([
    ['an image named .pdf', 'picture.pdf', PNG],
    ['an empty .pdf', 'empty.pdf', Buffer.alloc(0)],
    ['a plain zip named .docx', 'archive.docx', writeZip([{ name: 'readme.txt', content: 'hello' }])],
    ['a text named .docx', 'text.docx', Buffer.from('only text')],
    ['an empty .docx', 'empty.docx', Buffer.alloc(0)],
  ])('%s: 415', async (_what, name, content) => {
    await refused(await post(form({}, { name, content })), 415, expect.stringMatching(/does not match/));
  });

  it.each([
    ['an unknown extension', 'program.exe', {}],
    ['no extension', 'README', {}],
    ['an unknown MIME type instead of one', 'README', { metadata: '{"mimetype": "image/x-odd"}' }],
  ])('%s: 415', async (_what, name, fields) => {
    await refused(await post(form(fields, { name })), 415, expect.stringMatching(/^Unsupported file type/));
  });

  it.each([
    ['an array', '[1]'],
    ['a text', '"text"'],
    ['null', 'null'],
    ['no JSON', '{"a": '],
    ['an object with an integer beyond 64 bits', '{"n": 9223372036854775808}'],
    ['an object with one below them', '{"n": -9223372036854775809}'],
    ['nested beyond every stack', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ])('metadata that is %s: 400', async (_what, metadata) => {
    await refused(await post(form({ metadata })), 400, expect.stringMatching(/^metadata/));
  });

  it.each([
    ['an encoded slash', 'a%2Fb', 400, /^Invalid file id/],
    ['an encoded slash at its end', 'a%2F', 400, /^Invalid file id/],
    ['an encoded way up', '..%2F..%2Fsecret', 400, /^Invalid file id/],
    ['300 characters', 'x'.repeat(300), 400, /^Invalid file id/],
    ['256 characters', 'x'.repeat(256), 400, /^Invalid file id/],
    ['spaces', 'a%20b', 400, /^Invalid file id/],
    ['a NUL', 'a%00b', 400, /^Invalid file id/],
    ['an accent', 'caf%C3%A9', 400, /^Invalid file id/],
    // No path of the service has an empty segment or more of them: these are unknown paths, and not bad ids.
    ['nothing', '', 404, /^Not Found$/],
    ['a slash', 'a/b', 404, /^Not Found$/],
  ])('a file id of %s', async (_what, id, status, detail) => {
    await refused(await post(form({}), `fresh/file/${id}`), status, expect.stringMatching(detail));
  });

  it.each([
    ['all', /^\[RESERVED_PARTITION_NAME\]: /],
    ['ALL', /^\[RESERVED_PARTITION_NAME\]: /],
    ['v1', /^\[RESERVED_PARTITION_NAME\]: /],
    ['search', /^\[RESERVED_PARTITION_NAME\]: /],
    ['a%20b', /^Invalid partition name/],
    ['a%2Fb', /^Invalid partition name/],
    ['x'.repeat(300), /^Invalid partition name/],
  ])('a partition named %s: 400', async (name, detail) => {
    const created = await stack.request(`/partition/${name}`, { method: 'POST' });
    expect(await answerOf(created)).toEqual([400, expect.stringMatching(detail)]);
    await refused(await post(form({}), `${name}/file/a`), 400, expect.stringMatching(detail));
  });

  it('a part without a file name, and a form without a file: 422', async () => {
    for (const name of ['file', 'metadata']) {
      const body = new FormData();
      body.append(name, '{}');
      await refused(await post(body), 422, [
        expect.objectContaining({ type: 'missing', loc: ['body', 'file'] }),
      ]);
    }
  });

  it('the file in another field, and two files: 422', async () => {
    const two = form({});
    two.append('file', new Blob(['another']), 'second.txt');
    for (const body of [form({}, { field: 'document' }), two])
      await refused(await post(body), 422, [expect.objectContaining({ type: 'unexpected_file' })]);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'anything', 400],
    [
      'a body that breaks off',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
      400,
    ],
    ['a body without a part', 'multipart/form-data; boundary=b', 'no part at all', 400],
    ['a body that is JSON', 'application/json', '{"file": "a"}', 422],
  ])('%s', async (_what, type, body, status) => {
    const response = await stack.request('/indexer/partition/fresh/file/bad', {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    await refused(response, status, expect.anything());
  });

  it('more bytes than MAX_UPLOAD_SIZE_MB: 413, by its length alone and while it streams', async () => {
    const detail = 'File exceeds the maximum allowed size of 24 MB.';
    const tooLong = form({}, { content: Buffer.alloc(25 * MEGABYTE, 'a') });
    await refused(await post(tooLong), 413, detail);
    const clearly = form({}, { content: Buffer.alloc(40 * MEGABYTE, 'a') });
    // Refused before it is read, so the answer may cross with bytes on their way: a client may see a cut instead.
    const answer = await post(clearly).catch(() => null);
    if (answer !== null) await refused(answer, 413, detail);
    await until('the stores are as before', async () => same(before, await footprint(stack)));
  });

  it('a client that leaves in the middle', async () => {
    const leaving = httpRequest(`${stack.base}/indexer/partition/fresh/file/bad`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.token}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': String(20 * MEGABYTE),
      },
    });
    leaving.on('error', () => undefined);
    leaving.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
    leaving.write(Buffer.alloc(5 * MEGABYTE, 'a'));
    await until('bytes are being written', async () => ((await footprint(stack))['blobs.chunks'] ?? 0) > 2);
    leaving.destroy();
    await until('the stores are as before', async () => same(before, await footprint(stack)));
  });
});

function same(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

describe('an admitted file that cannot be indexed', () => {
  const pdf = writePdf(samplePages(3));
  it.each<[string, string, string, () => Buffer]>([
    ['an empty text', 'empty.txt', 'NO_INDEXABLE_CONTENT', () => Buffer.alloc(0)],
    ['a text of blanks', 'blank.txt', 'NO_INDEXABLE_CONTENT', () => Buffer.from(' \n\t\n '.repeat(100))],
    ['a PDF cut off before its first page', 'cut.pdf', 'FILE_CORRUPT', () => pdf.subarray(0, 200)],
    [
      'an encrypted PDF',
      'locked.pdf',
      'FILE_ENCRYPTED',
      () => writePdf(samplePages(2), { userPassword: 'sesame' }),
    ],
    ['a zip bomb named .docx', 'bomb.docx', 'FILE_TOO_COMPLEX', () => writeDocxBomb(60_000_000)],
    ['a bomb that hides its size', 'liar.docx', 'FILE_TOO_COMPLEX', () => writeDocxBomb(60_000_000, 1000)],
    [
      'binary data named .txt',
      'data.txt',
      'UNSUPPORTED_CONTENT',
      () => Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256)),
    ],
  ])(
    '%s: FAILED with its reason, nothing left, and its id free again',
    async (_what, name, code, content) => {
      const id = name.replace('.', '-');
      const status = await client.ended(await client.upload('POST', 'failing', id, bytes(content()), name));
      expect([status.task_state, status.error?.code]).toEqual(['FAILED', code]);
      const { error_url } = status as { error_url?: string };
      expect(await (await stack.request(error_url!)).json()).toMatchObject({
        reason: code,
        summary: expect.stringContaining(`[${code}]`),
      });
      expect((await stack.request(`/partition/failing/file/${id}`)).status).toBe(404);
      expect(await remainingDrift(stack)).toEqual([]);

      const again = await client.send('POST', 'failing', id, `The bittern calls at ${name}.`, 'again.txt');
      expect(again.status).toBe(201);
      const { task_status_url } = (await again.json()) as { task_status_url: string };
      expect((await client.ended(task_status_url)).task_state).toBe('COMPLETED');
      const hits = await client.search(`/search/partition/failing/file/${id}`, { text: 'bittern' });
      expect(hits[0]?.content).toContain(name);
    },
  );
});

describe('an odd file that can be indexed', () => {
  const indexed = async (id: string, name: string, content: Buffer, withinMs = 120_000): Promise<void> => {
    const url = await client.upload('POST', 'odd', id, bytes(content), name);
    const status = await client.ended(url, withinMs);
    expect([status.task_state, status.error ?? null]).toEqual(['COMPLETED', null]);
  };
  const firstHit = async (id: string, text: string): Promise<string | undefined> =>
    (await client.search(`/search/partition/odd/file/${id}`, { text, top_k: '3' }))[0]?.content;

  it('a PDF that is cut off: what is there, and that it is not all', async () => {
    const whole = writePdf(samplePages(3));
    await indexed('cut', 'cut.pdf', whole.subarray(0, whole.length / 2));
    expect(await firstHit('cut', 'brushes and soap')).toContain('page 1 speaks of brushes and soap');
    const [file, list] = await Promise.all(
      ['/partition/odd/file/cut', '/partition/odd?degraded_stage=parse'].map(async (path) =>
        (await stack.request(path)).json(),
      ),
    );
    expect(file).toMatchObject({
      degraded: true,
      parse_report: { parser: 'liteparse', pages: 3, degraded: true },
    });
    expect(list).toMatchObject({ files: [{ file_id: 'cut' }] });
  });

  it('HTML nested 50,000 deep', async () => {
    const depth = 50_000;
    const page = `<p>on the surface</p>${'<div>'.repeat(depth)}the anglerfish of the deep${'</div>'.repeat(depth)}`;
    await indexed('deep', 'deep.html', Buffer.from(page));
    expect(await firstHit('deep', 'anglerfish')).toContain('the anglerfish of the deep');
  });

  it.each([
    ['UTF-16 with its mark', 'utf16', Buffer.from('\ufeffUne crémière à Orléans', 'utf16le')],
    [
      'latin-1',
      'latin1',
      Buffer.from('Le héron pêche près de la rivière à Nîmes, été comme hiver', 'latin1'),
    ],
  ])('%s, with its accents', async (_what, id, content) => {
    await indexed(id, `${id}.txt`, content);
    const word = id === 'utf16' ? 'crémière' : 'héron';
    expect(await firstHit(id, word)).toContain(word);
  });

  // One of 20 MB: `npm run test:scale -- zoo`.
  it('a text file of many batches, whose end is found', async () => {
    const text = `${generatedText(20, 5700)}\n\nThe quetzal nests in the last line of all.`;
    expect(text.length).toBeGreaterThan(2 * MEGABYTE);
    await indexed('large', 'large.txt', Buffer.from(text));
    expect(await firstHit('large', 'quetzal')).toContain('The quetzal nests in the last line of all.');
  });

  it('leaves the stores in agreement', async () => {
    expect(await remainingDrift(stack)).toEqual([]);
  });
});

describe('the same bytes', () => {
  it('under another id: 409 with the id that has them', async () => {
    const text = 'A stork on every chimney.';
    await client.ended(await client.upload('POST', 'twice', 'first', text, 'a.txt'));
    // What a step leaves for the next one goes after the task has ended.
    await until('only the files themselves are kept', async () => {
      const kept = await footprint(stack);
      return kept['blobs.files'] === kept['files'] && kept['blobs.writes'] === undefined;
    });
    const before = await footprint(stack);
    const response = await client.send('POST', 'twice', 'second', text, 'b.txt');
    expect([response.status, await response.json()]).toEqual([
      409,
      {
        detail: expect.stringMatching(/^\[DOCUMENT_CONTENT_EXISTS\]: /),
        extra: expect.objectContaining({ existing_file_id: 'first' }),
      },
    ]);
    expect(await footprint(stack)).toEqual(before);
  });

  it('20 times at once under 20 ids: one is admitted, 19 are told of it', async () => {
    const text = 'A crane on every roof.';
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const response = await client.send('POST', 'twenty', `crane-${index}`, text, 'crane.txt');
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    const admitted = answers.findIndex(({ status }) => status === 201);
    for (const { body } of answers.filter(({ status }) => status === 409))
      expect(body['extra']).toMatchObject({ existing_file_id: `crane-${admitted}` });
    const url = answers[admitted]!.body['task_status_url'] as string;
    expect((await client.ended(url)).task_state).toBe('COMPLETED');
    const { files } = (await (await stack.request('/partition/twenty')).json()) as { files: object[] };
    expect(files).toEqual([expect.objectContaining({ file_id: `crane-${admitted}` })]);
    expect(await remainingDrift(stack)).toEqual([]);
  });
});
