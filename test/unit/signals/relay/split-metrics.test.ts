import { describe, expect, test } from '@jest/globals';
import { METRICS_PART_BYTES, splitMetrics } from '../../../../api/signals/relay/split-metrics.js';

const component = (name: string, size: number) => ({ name, pad: 'x'.repeat(size) });

describe('metrics that are too large', () => {
  test('are cut by component, each in one part, all of them, in order', () => {
    const text = JSON.stringify({
      lapi: { version: '1.7', metrics: [{ items: [1] }] },
      remediation_components: Array.from({ length: 7 }, (_, i) => component(`r${i}`, 300)),
      log_processors: Array.from({ length: 5 }, (_, i) => component(`p${i}`, 300)),
    });
    const parts = splitMetrics(text, 1500).map(
      (part) =>
        JSON.parse(part) as Record<'remediation_components' | 'log_processors', { name: string }[]> & {
          lapi: { version: string; metrics: unknown[] };
        },
    );
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(JSON.stringify(part).length).toBeLessThanOrEqual(1500);
    const names = parts.flatMap((part) =>
      [...part.remediation_components, ...part.log_processors].map(({ name }) => name),
    );
    expect(names).toEqual(
      [...Array(7).keys()].map((i) => `r${i}`).concat([...Array(5).keys()].map((i) => `p${i}`)),
    );
    // The server's own numbers count once.
    expect(parts.map(({ lapi }) => lapi.metrics.length)).toEqual([1, ...parts.slice(1).map(() => 0)]);
    expect(new Set(parts.map(({ lapi }) => lapi.version))).toEqual(new Set(['1.7']));
  });

  test('keep their numbers as they were written', () => {
    const text = `{"log_processors":[{"n":12345678901234567890},{"n":1.10}],"pad":"${'x'.repeat(100)}"}`;
    expect(splitMetrics(text, 120).join('')).toMatch(/12345678901234567890.*1\.10/);
  });

  test('stay whole when they fit, have one component, or are something else', () => {
    const large = JSON.stringify({ log_processors: [component('a', 500)] });
    for (const text of ['{}', '[]', large, `[${'1,'.repeat(300)}1]`])
      expect(splitMetrics(text, 200)).toEqual([text]);
    expect(splitMetrics('not json at all')).toEqual(['not json at all']);
    expect(METRICS_PART_BYTES).toBeLessThan(10 * 1024 * 1024);
  });
});
