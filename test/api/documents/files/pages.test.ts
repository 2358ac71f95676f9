import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AppError } from '../../../../schemas/app-error.js';
import { writePdf } from '../../../support/documents/write-pdf.js';
import { until } from '../../../support/until.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

const SENTENCE = 'The millstones are dressed every 300 hours of grinding.';

let gateway: Gateway;
let owner: { token: string };

beforeAll(async () => {
  gateway = await startGateway();
  owner = gateway.addUser('owner');
}, 30_000);
afterAll(() => gateway.close());

/** A file of two pages, whose one extract stands on `page`; answers the id of the extract. */
async function indexPdf(
  fileId: string,
  page: number | null,
  { pdf, text = `First line. ${SENTENCE}` }: { pdf?: Buffer; text?: string } = {},
): Promise<string> {
  const written =
    pdf ?? writePdf([[{ text: `Cover of ${fileId}` }], [{ text: 'First line.' }, { text: SENTENCE }]]);
  const response = await gateway.call('POST', `/indexer/partition/one/file/${fileId}`, {
    body: uploadForm(written, { filename: `${fileId}.pdf` }),
    token: owner.token,
  });
  expect(response.status).toBe(201);
  const [id = ''] = await publishTask(gateway, await taskIdOf(response), [text], page);
  return id;
}

function ask(path: string, { token = owner.token, headers = {} }: { token?: string; headers?: object } = {}) {
  return gateway.call('GET', path, { token, headers: headers as Record<string, string> });
}

interface Marks {
  page: number;
  width: number;
  height: number;
  marks: { x: number; y: number; width: number; height: number }[];
}

async function marksOf(id: string, query = ''): Promise<Marks> {
  const response = await ask(`/extract/${id}/page/marks${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Marks;
}

describe('GET /extract/{extract_id}/page', () => {
  it('draws the page, within its bounds, for viewers of the partition', async () => {
    const id = await indexPdf('drawn', 2);
    const response = await ask(`/extract/${id}/page`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    const png = Buffer.from(await response.arrayBuffer());
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    expect(width * height).toBeLessThanOrEqual(4_000_000);
    expect(Math.round((height / width) * 100)).toBe(141);
    expect(await marksOf(id)).toMatchObject({ page: 2, width, height });

    const etag = response.headers.get('etag') ?? '';
    expect((await ask(`/extract/${id}/page`, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const { token } = gateway.addUser('outsider');
    for (const path of [`/extract/${id}/page`, `/extract/${id}/page/marks`])
      expect((await ask(path, { token })).status).toBe(403);
  });

  it('answers 404 where there is no page, and an error where the file cannot be read', async () => {
    const [text = ''] = await indexText(gateway, { partition: 'one', fileId: 'text', token: owner.token }, [
      'a',
    ]);
    for (const id of [text, 'none', await indexPdf('pageless', null), await indexPdf('beyond', 9)])
      expect([id, (await ask(`/extract/${id}/page`)).status]).toEqual([id, 404]);
    const locked = await indexPdf('locked', 1, {
      pdf: writePdf([[{ text: 'x' }]], { userPassword: 'secret' }),
    });
    expect((await ask(`/extract/${locked}/page`)).status).toBe(422);
  });
});

describe('a page of a PDF for which there is no room', () => {
  it('is asked for again later', async () => {
    const before = { gateway, owner };
    let end: () => void = () => undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      end = () => reject(new AppError('FILE_CORRUPT'));
    });
    const reading = jest.fn(() => ended);
    gateway = await startGateway({ env: { MAX_UPLOAD_SIZE_MB: '15' }, parser: { extractText: reading } });
    owner = gateway.addUser('owner');
    try {
      const padding = Buffer.alloc(3 * 1024 * 1024, '\n');
      const pdf = Buffer.concat([writePdf([[{ text: SENTENCE }]]), padding]);
      const id = await indexPdf('large', 1, { pdf, text: SENTENCE });
      const tool = () =>
        gateway.call('POST', '/v1/tools/execute', {
          body: uploadForm(Buffer.alloc(15 * 1024 * 1024, 'a'), { tool: '{"name":"extractText"}' }),
          token: owner.token,
        });
      const tools = [tool(), tool()];
      await until('two files are at work', async () => reading.mock.calls.length === 2);
      expect((await ask(`/extract/${id}/page`)).status).toBe(503);
      end();
      for (const { status } of await Promise.all(tools)) expect(status).toBe(422);
      expect((await ask(`/extract/${id}/page`)).status).toBe(200);
    } finally {
      await gateway.close();
      ({ gateway, owner } = before);
    }
  }, 60_000);
});

describe('GET /extract/{extract_id}/page/marks', () => {
  it('marks the extract, or a sentence of it, where it stands', async () => {
    const id = await indexPdf('marked', 2);
    const { marks: all } = await marksOf(id);
    expect(all).toHaveLength(2);
    const { marks } = await marksOf(id, '?from=12&to=67');
    expect(marks).toHaveLength(1);
    expect(marks[0]).toEqual(all[1]);
    for (const share of Object.values(marks[0]!)) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThan(1);
    }
  });

  it('marks nothing where the page says something else', async () => {
    const id = await indexPdf('other', 1, { text: 'Nothing of this stands anywhere here.' });
    expect((await marksOf(id)).marks).toEqual([]);
  });

  it('answers 422 to places that are none', async () => {
    const id = await indexPdf('places', 2);
    expect((await ask(`/extract/${id}/page/marks?from=-1`)).status).toBe(422);
  });
});
