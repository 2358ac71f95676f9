import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writeEml } from '../support/documents/write-mail.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';
import { ZOO } from '../zoo/all-specimens.js';
import type { Specimen } from '../zoo/specimen.js';

/** One of each kind of reader, and of each kind of end; all of them are read in `test/zoo`. */
const CHOSEN = new Set([
  'good.csv',
  'good.doc',
  'good.eml',
  'good.epub',
  'good.msg',
  'good.odt',
  'good.pptx',
  'good.webp',
  'good.xlsx',
  'good.zip',
  'cut-off.eml',
  'damaged-list-of-types.docx',
  'empty.docx',
  'mails-in-mails-without-end.eml',
  'three-pages.tiff',
  'with-password.pptx',
]);

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;
beforeAll(async () => {
  stack = await openStack({ OCR_LANGUAGES: 'eng', PARSE_CONCURRENCY: '1' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function idOf(name: string): string {
  return name.replaceAll('.', '-');
}

async function expectFound(name: string, passages: readonly string[]): Promise<void> {
  for (const text of passages) {
    const hits = await client.search(`/search/partition/zoo/file/${idOf(name)}`, { text, top_k: '5' });
    expect(plain(hits.map(({ content }) => content).join(' '))).toContain(plain(text));
  }
}

async function uploadSpecimen({ name, bytes }: Specimen): Promise<Response> {
  return client.send('POST', 'zoo', idOf(name), new Uint8Array(Buffer.from(await bytes())), name);
}

/** Processes in which the worker reads documents. */
function parserPids(): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(stack.workerPid())], {
    encoding: 'utf8',
  });
  return stdout
    .split('\n')
    .filter((line) => line.includes('parser-child'))
    .map((line) => Number.parseInt(line, 10));
}

describe('the zoo through the gateway', () => {
  it('is found by its words, or ends with its code, and leaves nothing behind', async () => {
    const specimens = ZOO.filter(({ name }) => CHOSEN.has(name));
    expect(specimens).toHaveLength(CHOSEN.size);
    const answers = await Promise.all(
      specimens.map(async (specimen) => {
        const response = await uploadSpecimen(specimen);
        const body = (await response.json()) as { task_status_url?: string };
        return { specimen, status: response.status, url: body.task_status_url };
      }),
    );
    for (const { specimen, status, url } of answers) {
      const { name, expected } = specimen;
      const isRefused = 'code' in expected && expected.code === 'UNSUPPORTED_MEDIA_TYPE';
      expect([name, status]).toEqual([name, isRefused ? 415 : 201]);
      if (url === undefined) continue;
      const { task_state: state, error } = await client.ended(url);
      expect([name, state, error?.code ?? null]).toEqual(
        'code' in expected ? [name, 'FAILED', expected.code] : [name, 'COMPLETED', null],
      );
      if ('finds' in expected) await expectFound(name, expected.finds.slice(0, 3));
    }
    expect(await remainingDrift(stack)).toEqual([]);
  }, 180_000);

  it('makes files of the attachments of a mail where a preset says so, which are copied, moved and deleted with it', async () => {
    const sendJson = async (method: string, path: string, body: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      return (await stack.request(path, { method, headers, body: JSON.stringify(body) })).status;
    };
    const preset = { name: 'mails', preset_type: 'indexation', config: { attachments_as_files: true } };
    expect(await sendJson('POST', '/presets/', preset)).toBe(201);
    expect(await sendJson('POST', '/partition/letters', {})).toBe(201);
    expect(await sendJson('PATCH', '/partition/letters', { indexation_preset: 'mails' })).toBe(200);
    const mail = writeEml({
      headers: { Subject: 'Prices', 'Message-ID': '<prices@mill.example>' },
      text: 'The prices are attached.',
      attachments: [
        { name: 'prices.csv', type: 'text/csv', content: 'grain,price\nbuckwheat,seven\n' },
        { name: 'setup.exe', type: 'application/octet-stream', content: 'MZ' },
      ],
    });
    const url = await client.upload('POST', 'letters', 'mail-1', new Uint8Array(mail), 'mail.eml');
    expect((await client.ended(url)).task_state).toBe('COMPLETED');
    const read = async (fileId: string) =>
      (await (await stack.request(`/partition/letters/file/${fileId}`)).json()) as {
        metadata: Record<string, unknown>;
        parse_report: { attachments?: { name: string; file_id: string | null }[] };
      };
    const { attachments } = (await read('mail-1')).parse_report;
    expect(attachments).toMatchObject([{ name: 'prices.csv' }, { name: 'setup.exe', file_id: null }]);
    const hit = await until('the attachment is found', async () => {
      const [first] = await client.search('/search/partition/letters', { text: 'buckwheat price' });
      return first?.content.includes('buckwheat') === true && first;
    });
    expect(hit.metadata).toMatchObject({
      file_id: attachments![0]!.file_id,
      parent_id: 'mail-1',
      relationship_id: 'prices@mill.example',
    });
    for (const partition of ['copies', 'archive'])
      expect(await sendJson('POST', `/partition/${partition}`, {})).toBe(201);
    const sendForm = async (
      method: string,
      path: string,
      fields: Record<string, string>,
    ): Promise<number> => {
      const body = new URLSearchParams(fields);
      return (await stack.request(`/indexer/partition/${path}`, { method, body })).status;
    };
    const source = { source_partition: 'letters', source_file_id: 'mail-1' };
    expect(await sendForm('POST', 'copies/file/mail-2/copy', source)).toBe(201);
    const metadata = JSON.stringify({ partition: 'archive' });
    expect(await sendForm('PATCH', 'letters/file/mail-1', { metadata })).toBe(200);
    const foundIn = async (partition: string): Promise<string[]> => {
      const hits = await client.search(`/search/partition/${partition}`, { text: 'buckwheat price' });
      return hits.filter(({ content }) => content.includes('buckwheat')).map(({ content }) => content);
    };
    for (const [partition, mailId] of Object.entries({ copies: 'mail-2', archive: 'mail-1' })) {
      await until(`the attachment is in ${partition}`, async () => (await foundIn(partition)).length === 1);
      expect(await foundIn('letters')).toEqual([]);
      const path = `/indexer/partition/${partition}/file/${mailId}`;
      expect((await stack.request(path, { method: 'DELETE' })).status).toBe(204);
      await until(
        `the attachment is gone with ${mailId}`,
        async () => (await foundIn(partition)).length === 0,
      );
    }
    expect(await remainingDrift(stack)).toEqual([]);
  }, 120_000);

  // Issue J, section 3.
  it('gives the place of a parser free within 5 s of a cancel', async () => {
    const pdf = new Uint8Array(writePdf(samplePages(3000)));
    const url = await client.upload('POST', 'zoo', 'long', pdf, 'long.pdf');
    const task = await until('pages are being read', async () => {
      const status = await client.task(url);
      return status.stage === 'parse' && status.progress > 0 && status;
    });
    const [parser] = parserPids();
    expect(parser).toBeDefined();
    await stack.request(`/indexer/task/${task.task_id}`, { method: 'DELETE' });
    await until('the parser is gone', () => Promise.resolve(!parserPids().includes(parser!)), {
      withinMs: 5000,
      everyMs: 50,
    });
    const next = await client.upload('POST', 'zoo', 'next', '<p>rye, seven</p>', 'next.html');
    expect((await client.ended(next)).task_state).toBe('COMPLETED');
    expect(await remainingDrift(stack)).toEqual([]);
  }, 120_000);

  it('names the page of a scan of several on which words were found', async () => {
    const [hit] = await client.search(`/search/partition/zoo/file/${idOf('three-pages.tiff')}`, {
      text: 'Number 4711 of the mill',
      top_k: '1',
    });
    expect(hit).toMatchObject({ content: expect.stringContaining('4711'), metadata: { page: 2 } });
  }, 60_000);

  it('says in a sentence that parsers ended by a signal on a file, and reads the next', async () => {
    const pdf = new Uint8Array(writePdf(samplePages(3000)));
    const url = await client.upload('POST', 'zoo', 'deadly', pdf, 'deadly.pdf');
    await until('pages are being read', async () => {
      const status = await client.task(url);
      return status.stage === 'parse' && status.progress > 0;
    });
    const ended = new Set<number>();
    for (const attempt of [1, 2, 3]) {
      const parser = await until(`a parser reads it, ${attempt}`, () =>
        Promise.resolve(parserPids().find((pid) => !ended.has(pid)) ?? (false as const)),
      );
      process.kill(parser, 'SIGABRT');
      ended.add(parser);
    }
    const { task_state, error } = await client.ended(url);
    expect(task_state).toBe('FAILED');
    expect(error).toEqual({
      code: 'FILE_CORRUPT',
      message:
        'The program that reads this type of file stopped on it 3 times. ' +
        'Saving the file anew in the program it comes from may help.',
    });
    const next = await client.upload('POST', 'zoo', 'after', 'grain,price\noats,six\n', 'after.csv');
    expect((await client.ended(next)).task_state).toBe('COMPLETED');
    expect(stack.crashes()).toEqual([]);
    expect(await remainingDrift(stack)).toEqual([]);
  }, 180_000);
});
