import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findLibreOffice } from '../../activities/documents/parsing/formats/libreoffice.js';
import { documentClient } from '../support/document-client.js';
import { startTestParser } from '../support/documents/parse-file.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { generatedText } from '../support/generated-text.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { ZOO } from '../zoo/all-specimens.js';
import { fuzzParser } from '../zoo/fuzz-parser.js';
import { mutatedSpecimens } from '../zoo/mutated-specimens.js';
import { complaint, readSpecimen } from '../zoo/read-specimen.js';

const MUTATIONS = 2000;
/** The parsers are tried with all of them, the whole service with every so many. */
const EVERY = 20;
const SEED = 20_261_124;

describe('the parsers', () => {
  let parser: TestParser;
  beforeAll(async () => {
    parser = await startTestParser({ ocrLanguages: ['eng'] });
  });
  afterAll(() => parser.close());

  for (const specimen of ZOO.filter(({ huge }) => huge === true)) {
    const skipped = specimen.libreOffice === true && findLibreOffice() === null;
    (skipped ? it.skip : it)(`come to terms with ${specimen.name}`, async () => {
      const bytes = Buffer.from(await specimen.bytes());
      expect(complaint(specimen, await readSpecimen(parser, specimen.name, bytes))).toBeNull();
    });
  }

  it(`come to terms with ${MUTATIONS} damaged files of the zoo`, async () => {
    const tough = await startTestParser({ timeoutMs: 60_000, ocrLanguages: [] });
    const { faults, outcomes } = await fuzzParser(tough, { count: MUTATIONS, seed: SEED });
    process.stderr.write(`${JSON.stringify(outcomes)}\n`);
    await tough.close();
    expect(faults).toEqual([]);
  });
});

describe('the service', () => {
  let stack: RunningStack;
  beforeAll(async () => {
    stack = await openStack({ OCR_ENABLED: 'false', PARSE_TIMEOUT: '60' });
    await Promise.all([stack.startGateway(), stack.startWorker()]);
  }, 180_000);
  afterAll(() => stack?.close(), 120_000);

  it('indexes a text of 20 MB, whose end is found', async () => {
    const client = documentClient(stack);
    const text = `${generatedText(20, 57_000)}\n\nThe quetzal nests in the last line of all.`;
    expect(text.length).toBeGreaterThan(20 * 1024 * 1024);
    const url = await client.upload('POST', 'large', 'text', text, 'large.txt');
    expect((await client.ended(url, 10 * 60_000)).task_state).toBe('COMPLETED');
    const [hit] = await client.search('/search/partition/large', { text: 'quetzal', top_k: '1' });
    expect(hit?.content).toContain('The quetzal nests in the last line of all.');
  });

  it('ends every task over damaged files, and leaves nothing behind', async () => {
    const client = documentClient(stack);
    const states: Record<string, number> = {};
    const tasks: string[] = [];
    for await (const { name, number, bytes } of mutatedSpecimens(MUTATIONS, SEED)) {
      if (number % EVERY !== 0) continue;
      const response = await client.send('POST', 'zoo', `file-${number}`, new Uint8Array(bytes), name);
      const body = (await response.json()) as { task_status_url?: string };
      states[response.status] = (states[response.status] ?? 0) + 1;
      // 409: what a mutation left as it was, twice.
      expect([201, 415, 409]).toContain(response.status);
      if (body.task_status_url !== undefined) tasks.push(body.task_status_url);
    }
    for (const url of tasks) {
      const { task_state: state, error } = await client.ended(url, 10 * 60_000);
      const ended = state === 'COMPLETED' ? state : `${state} ${error?.code}`;
      states[ended] = (states[ended] ?? 0) + 1;
      expect(['COMPLETED', 'FAILED']).toContain(state);
    }
    process.stderr.write(`${JSON.stringify(states)}\n`);
    expect(await remainingDrift(stack)).toEqual([]);
  });
});
