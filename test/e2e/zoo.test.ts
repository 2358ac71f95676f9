import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { samplePages } from '../support/documents/sample-pages.js';
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
    const next = await client.upload('POST', 'zoo', 'next', 'grain,price\nrye,seven\n', 'next.csv');
    expect((await client.ended(next)).task_state).toBe('COMPLETED');
    expect(await remainingDrift(stack)).toEqual([]);
  }, 120_000);
});
