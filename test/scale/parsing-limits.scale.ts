import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writeDocx, writeDocxBomb } from '../support/documents/write-docx.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 120_000);

async function outcomeOf(id: string, name: string, content: Buffer | string): Promise<unknown[]> {
  const bytes = new Uint8Array(Buffer.from(content));
  const url = await client.upload('POST', 'limits', id, bytes, name);
  const { task_state, error } = await client.ended(url, 20 * 60_000);
  return [task_state, error?.code ?? null];
}

async function firstHit(id: string, text: string) {
  return (await client.search(`/search/partition/limits/file/${id}`, { text, top_k: '3' }))[0];
}

describe('big documents within the limits', () => {
  it('a PDF of 1,000 pages, each found under its number', async () => {
    expect(await outcomeOf('pages', 'pages.pdf', writePdf(samplePages(1000)))).toEqual(['COMPLETED', null]);
    expect((await firstHit('pages', 'Care of mesh 987'))?.metadata['page']).toBe(987);
  });

  it('a Word document of 20,000 paragraphs', async () => {
    const blocks = Array.from({ length: 20_000 }, (_, index) => ({
      paragraph: `Paragraph ${index} speaks of woven wire, of brushes and of soap.`,
    }));
    const docx = writeDocx([...blocks, { paragraph: 'The quetzal nests here.' }]);
    expect(await outcomeOf('words', 'words.docx', docx)).toEqual(['COMPLETED', null]);
    expect((await firstHit('words', 'quetzal'))?.content).toContain('The quetzal nests here.');
  });

  it('HTML nested a million deep', async () => {
    const depth = 1_000_000;
    const page = `${'<div>'.repeat(depth)}the anglerfish of the deep${'</div>'.repeat(depth)}`;
    expect(await outcomeOf('deep', 'deep.html', page)).toEqual(['COMPLETED', null]);
    expect((await firstHit('deep', 'anglerfish'))?.content).toContain('the anglerfish of the deep');
  });
});

describe('documents beyond them', () => {
  it('a PDF of more pages than PARSE_MAX_PAGES', async () => {
    const pages = Array.from({ length: 20_001 }, (_, index) => [{ text: `Page ${index}` }]);
    expect(await outcomeOf('many', 'many.pdf', writePdf(pages))).toEqual(['FAILED', 'FILE_TOO_COMPLEX']);
  });

  it('a zip bomb of 500 MB', async () => {
    const bomb = writeDocxBomb(500_000_000);
    expect(await outcomeOf('bomb', 'bomb.docx', bomb)).toEqual(['FAILED', 'FILE_TOO_COMPLEX']);
  });

  it('leave nothing', async () => {
    expect(await remainingDrift(stack)).toEqual([]);
  });
});
