import { describe, expect, test } from '@jest/globals';
import { availableMemory, memoryPlan, memorySetting } from '../../../deploy/local/memory-plan.js';
import { totalmem } from 'node:os';
import { readFileSync } from 'node:fs';

const GIB = 1024 ** 3;

describe('the memory of each process', () => {
  test.each([2, 4, 8, 16, 24, 64, 256])('fits into a machine of %i GiB', (gib) => {
    const plan = memoryPlan(gib * GIB);
    const sum = (Object.values(plan) as number[]).reduce((one, other) => one + other, 0);
    expect(sum).toBeLessThanOrEqual(gib * 1024 * (gib < 4 ? 0.6 : 0.5));
  });

  test('grows with the machine, up to where more is of no use', () => {
    const plans = [2, 4, 8, 16, 64, 256].map((gib) => memoryPlan(gib * GIB));
    for (const name of Object.keys(plans[0] ?? {}) as (keyof (typeof plans)[0])[]) {
      const values = plans.map((plan) => plan[name]);
      expect(values).toEqual([...values].sort((one, other) => one - other));
    }
    expect(plans[4]).toEqual(plans[5]);
  });

  test('is what the README says', () => {
    const readme = readFileSync('README.md', 'utf8');
    const variables = {
      opensearchHeapMb: 'OPENSEARCH_HEAP_MB',
      postgresSharedBuffersMb: 'POSTGRES_SHARED_BUFFERS_MB',
      gatewayHeapMb: 'GATEWAY_HEAP_MB',
      workerHeapMb: 'WORKER_HEAP_MB',
    } as const;
    for (const [name, variable] of Object.entries(variables) as [keyof typeof variables, string][]) {
      const row = readme.split('\n').find((line) => line.includes(`| \`${variable}\` |`)) ?? '';
      const values = [2, 8, 16, 64].map((gib) => String(memoryPlan(gib * GIB)[name]));
      expect(row.split('|').map((cell) => cell.trim())).toEqual(expect.arrayContaining(values));
    }
  });

  test('is what the setting says instead, and a value that cannot be one is refused by name', () => {
    const chosen = (value: string) =>
      memorySetting({ OPENSEARCH_HEAP_MB: value }, 'opensearchHeapMb', 8 * GIB);
    expect(chosen('700')).toEqual({ variable: 'OPENSEARCH_HEAP_MB', megabytes: 700 });
    expect(memorySetting({}, 'opensearchHeapMb', 8 * GIB).megabytes).toBe(512);
    for (const wrong of ['700m', '-1', '0', '64', '9000']) {
      expect(() => chosen(wrong)).toThrow(`OPENSEARCH_HEAP_MB is ${wrong}: it must be a number of MiB`);
    }
  });

  test('never counts on more than the machine has', () => {
    expect(availableMemory()).toBeGreaterThan(0);
    expect(availableMemory()).toBeLessThanOrEqual(totalmem());
  });
});
