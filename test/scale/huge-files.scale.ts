import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { processMemory } from '../../activities/documents/parsing/process-memory.js';
import { documentClient } from '../support/document-client.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { generatedMail, generatedParagraphs, generatedTable } from '../support/generated-files.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { uploadStreamed } from '../support/upload-streamed.js';

const MIB = 1024 * 1024;
/** Of the worker and its children together (issue J, section 4.3). */
const MOST_BYTES = 1024 * MIB;
const LEAST_PAGES_A_SECOND = 200;
const TEXT_MB = Number(process.env['HUGE_TEXT_MB'] ?? 500);
const ROWS = Number(process.env['HUGE_ROWS'] ?? 1_000_000);
const MAIL_MB = Number(process.env['HUGE_MAIL_MB'] ?? 300);
const PAGES = Number(process.env['HUGE_PAGES'] ?? 4000);
/** Progress of a task that is well under way in storing its chunks: what is read is read, and the rest is alike. */
const STORING = 0.32;
const WATCH_EVERY_MS = 200;
const HOUR_MS = 3_600_000;

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;
beforeAll(async () => {
  stack = await openStack({ PARSE_TIMEOUT: '3600' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 120_000);

interface Watched {
  peakBytes: number;
  /** The task that was watched, at the end. */
  state: string;
  report: { duration_ms: number; pages: number | null; peak_memory_mb: number | null } | undefined;
}

/** Uploads a file and watches the memory, to the end or until its chunks are being stored; then it gives it up. */
async function watch(
  { id, name, toTheEnd = false }: { id: string; name: string; toTheEnd?: boolean },
  content: Iterable<string | Buffer>,
): Promise<Watched> {
  const path = `/indexer/partition/huge/file/${id}`;
  const { status, body } = await uploadStreamed(stack, path, name, content);
  expect(status).toBe(201);
  let peakBytes = 0;
  const seconds: Record<string, number> = {};
  let before = Date.now();
  for (const until = Date.now() + HOUR_MS; Date.now() < until;) {
    peakBytes = Math.max(peakBytes, (await processMemory(stack.workerPid())) ?? 0);
    const task = await client.task(body.task_status_url);
    const now = Date.now();
    seconds[task.stage] = Math.round(10 * (seconds[task.stage] ?? 0) + (now - before) / 100) / 10;
    before = now;
    const isOver = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(task.task_state);
    if (isOver || (!toTheEnd && task.progress >= STORING)) break;
    await new Promise((resolve) => setTimeout(resolve, WATCH_EVERY_MS));
  }
  const read = (await (await stack.request(body.task_status_url)).json()) as {
    task_id: string;
    parse_report?: Watched['report'];
  };
  if (!toTheEnd) await stack.request(`/indexer/task/${read.task_id}`, { method: 'DELETE' });
  const { task_state: state } = await client.ended(body.task_status_url);
  process.stderr.write(
    `${name}: peak ${Math.ceil(peakBytes / MIB)} MiB of the worker and its children, ${state}, by stage ${JSON.stringify(seconds)} s, ${JSON.stringify(read.parse_report)}\n`,
  );
  return { peakBytes, state, report: read.parse_report };
}

describe('huge files within 1 GiB of the worker and its children', () => {
  it.each([
    [`a text of ${TEXT_MB} MB`, 'text', 'large.txt', () => generatedParagraphs(TEXT_MB)],
    [`a table of ${ROWS} rows`, 'table', 'large.csv', () => generatedTable(ROWS)],
    [`a mail of ${MAIL_MB} MB`, 'mail', 'large.eml', () => generatedMail(MAIL_MB)],
  ])(
    '%s',
    async (_what, id, name, content) => {
      const { peakBytes, state, report } = await watch({ id, name }, content());
      expect(['COMPLETED', 'CANCELLED']).toContain(state);
      expect(report).toMatchObject({ degraded: false });
      expect(peakBytes).toBeLessThan(MOST_BYTES);
    },
    HOUR_MS,
  );

  it(
    `a PDF of ${PAGES} pages, ${LEAST_PAGES_A_SECOND} of them a second`,
    async () => {
      const file = { id: 'pages', name: 'pages.pdf', toTheEnd: true };
      const { peakBytes, state, report } = await watch(file, [writePdf(samplePages(PAGES))]);
      expect(state).toBe('COMPLETED');
      expect(report?.pages).toBe(PAGES);
      expect(PAGES / (report!.duration_ms / 1000)).toBeGreaterThanOrEqual(LEAST_PAGES_A_SECOND);
      expect(peakBytes).toBeLessThan(MOST_BYTES);
    },
    HOUR_MS,
  );

  it('leave nothing', async () => {
    expect(await remainingDrift(stack)).toEqual([]);
  });
});
