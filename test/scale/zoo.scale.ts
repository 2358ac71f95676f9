import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findLibreOffice } from '../../activities/documents/parsing/formats/libreoffice.js';
import { documentClient } from '../support/document-client.js';
import { startTestParser } from '../support/documents/parse-file.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { generatedText } from '../support/generated-text.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';
import { ZOO } from '../zoo/all-specimens.js';
import { ENDS_OF_DAMAGED, fuzzParser } from '../zoo/fuzz-parser.js';
import { mutatedSpecimens } from '../zoo/mutated-specimens.js';
import type { MutatedSpecimen } from '../zoo/mutated-specimens.js';
import { complaint, readSpecimen } from '../zoo/read-specimen.js';

const MUTATIONS = 2000;
/** So many damaged files are in the service at one time. */
const AT_ONCE = 8;
const SEED = 20_261_124;
/** A task that waits behind the slowest of the others, each of which has a minute. */
const LONGEST_MS = 10 * 60_000;
/** How a damaged file may end in the service: read, or refused by the gateway or its task. Else the fault is ours. */
const MAY_END: ReadonlySet<string> = new Set([
  'COMPLETED',
  // A mutation may have left a file as it was, twice.
  '409',
  '415',
  ...ENDS_OF_DAMAGED,
]);

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

  it(`ends every task over ${MUTATIONS} damaged files, and leaves nothing behind`, async () => {
    const client = documentClient(stack);
    const outcomes: Record<string, number> = {};
    const faults: string[] = [];
    const damaged = mutatedSpecimens(MUTATIONS, SEED);
    const began = Date.now();
    const tryOne = async ({ name, number, how, bytes }: MutatedSpecimen): Promise<void> => {
      const response = await client.send('POST', 'zoo', `file-${number}`, new Uint8Array(bytes), name);
      const answer = (await response.json()) as { task_status_url?: string };
      const { task_status_url: url } = answer;
      const task = url === undefined ? null : await client.ended(url, LONGEST_MS).catch(() => undefined);
      const ended = task === undefined ? 'never ended' : (task?.error?.code ?? task?.task_state);
      const outcome = ended ?? String(response.status);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (!MAY_END.has(outcome))
        faults.push(
          `${number} ${name} (${how}): ${outcome}: ${task?.error?.message ?? JSON.stringify(answer)}`,
        );
    };
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for await (const one of damaged) await tryOne(one);
      }),
    );
    const seconds = Math.round((Date.now() - began) / 1000);
    process.stderr.write(`${MUTATIONS} files in ${seconds} s: ${JSON.stringify(outcomes)}\n`);
    expect(faults).toEqual([]);
    expect(stack.crashes()).toEqual([]);
    const active = await stack.adapters.tasks.list({
      userId: null,
      states: ['QUEUED', 'SERIALIZING'],
      limit: 9,
    });
    expect(active).toEqual([]);
    expect(await remainingDrift(stack)).toEqual([]);
  });

  it('leaves nothing of them once their partition is deleted', async () => {
    for (const partition of ['zoo', 'large'])
      expect((await stack.request(`/partition/${partition}`, { method: 'DELETE' })).status).toBeLessThan(300);
    const isEmpty = async (): Promise<boolean> => {
      for await (const _file of stack.adapters.files.scan()) return false;
      return true;
    };
    // Two thousand files are cleaned up after, one by one.
    await until('nothing is left', isEmpty, { withinMs: 10 * 60_000 });
    expect(await remainingDrift(stack)).toEqual([]);
  });
});
