import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ImportBench } from '../../support/import-bench.js';
import { importBench } from '../../support/import-bench.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

const FILES = 2500;
/** In no order; the last two are sorted by code points one way and by the units of UTF-16 the other. */
const IDS = [...Array.from({ length: FILES - 2 }, (_, at) => `f-${(at * 7) % (FILES - 2)}`), '😀', 'ｚ'];

describe('the list of a partition with more files than are held at a time', () => {
  let bench: ImportBench;
  afterEach(() => bench.close());

  const lists = () => bench.asked.filter((path) => /^\/partition\/shelf(\?|$)/.test(path));
  const sorted = IDS.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

  it('is read a page at a time from a source that gives pages', async () => {
    bench = await importBench(sorted, { dryRun: true });
    expect(await bench.run()).toMatchObject({ phase: 'done', done: FILES, figures: { taken: FILES } });
    expect(lists()).toHaveLength(4);
    expect(lists().every((path) => /[?&]limit=1(000)?(&|$)/.test(path))).toBe(true);
  });

  it('is read through by who goes on in the middle of it', async () => {
    bench = await importBench(sorted, { dryRun: true });
    const users = await bench.slice(null).result;
    const middle = { ...users, partition: 'shelf', after: sorted[1200]!, done: 1201 };
    expect(await bench.slice(middle).result).toMatchObject({ done: FILES, figures: { taken: FILES - 1201 } });
  });

  it('loses no file of a source that knows no pages and no order', async () => {
    bench = await importBench(IDS, { dryRun: true, knowsAfter: false });
    expect(await bench.run()).toMatchObject({ phase: 'done', done: FILES, figures: { taken: FILES } });
  });

  it('loses no file of one that has no limit either', async () => {
    bench = await importBench(IDS, { dryRun: true });
    bench.answers.set('/partition/shelf', JSON.stringify(bench.answers.get('/partition/shelf')));
    expect(await bench.run()).toMatchObject({ phase: 'done', done: FILES, figures: { taken: FILES } });
  });

  it.each([
    ['{"files": [{"file_id": "a"} {"file_id": "b"}]}', 'is no JSON'],
    ['{"files": [{"file_id": "a"},]}', 'is no JSON'],
    ['{"files": [,]}', 'is no JSON'],
    ['{"files": [{"file_id": "a"}]', 'is no JSON'],
    ['{"files": [{"file_id": "a"}', 'is no JSON'],
    ['{"files": [{"file_id": "a", "file_id": "b"}]}', 'is no JSON'],
    ['{"files": [{"file_id": 7}]}', 'not as the contract has it: files.0.file_id'],
    [
      '{"files": [{"file_id": "a", "content_sha256": 7}]}',
      'not as the contract has it: files.content_sha256',
    ],
    ['{"files": {}}', 'not as the contract has it: files'],
    ['{"inner": {"files": []}}', 'not as the contract has it: files'],
    ['["files", []]', 'not as the contract has it: files'],
    ['null', 'not as the contract has it: files'],
  ])('ends the run where it is %s', async (answer, message) => {
    bench = await importBench([], { dryRun: true });
    bench.answers.set('/partition/shelf', answer);
    await expect(bench.run()).rejects.toMatchObject({
      code: 'IMPORT_SOURCE_REFUSED',
      message: expect.stringContaining(message),
    });
  });

  it('may have words with brackets, and other lists beside it', async () => {
    const file = { file_id: 'a', content_sha256: 'x', title: 'é ]}" \\', list: [{ files: [1] }] };
    bench = await importBench([], { dryRun: true });
    bench.answers.set('/partition/shelf', JSON.stringify({ others: [file], files: [file], note: 'files' }));
    expect(await bench.run()).toMatchObject({ phase: 'done', figures: { taken: 1 } });
  });
});

const READ = `
  import { createImportSources } from './activities/outbound/import-sources.ts';
  import { readSource } from './activities/imports/read-source.ts';
  const sources = createImportSources({ allowPrivateAddresses: true });
  const signal = new AbortController().signal;
  const service = sources.open({ url: process.argv[1], token: 't' }, { requestsPerSecond: 1000, signal });
  const { files, isLast } = await readSource(service).files('shelf', 'file-00020000');
  console.log(JSON.stringify({ rows: files.length, first: files[0].row().file_id, isLast }));
  await sources.close();
`;

describe('the list of 100,000 files in one answer', () => {
  let server: Server;
  afterEach(() => endServer(server));

  it('is read in a heap that is a small part of what it would take as a whole', async () => {
    const words = 'w'.repeat(350);
    const row = (at: number) => JSON.stringify({ file_id: `file-${String(at).padStart(8, '0')}`, words });
    const chunks = function* () {
      yield '{"files": [';
      for (let at = 100_000; at > 0; at -= 100)
        yield `${Array.from({ length: 100 }, (_, less) => row(at - less)).join()}${at > 100 ? ',' : ''}`;
      yield ']}';
    };
    server = createServer((_request, response) => void Readable.from(chunks()).pipe(response));
    const { url } = await listenOnLoopback(server);
    const flags = ['--max-old-space-size=96', '--import', 'tsx', '--input-type=module', '--eval', READ, url];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(JSON.parse(stdout)).toEqual({ rows: 1000, first: 'file-00020001', isLast: false });
  });
});
