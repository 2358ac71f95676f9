import { describe, expect, test } from '@jest/globals';
import { METRICS_PART_BYTES, splitMetrics } from '../../../../api/signals/relay/split-metrics.js';

function component(name: string, size: number) {
  return { name, pad: 'x'.repeat(size) };
}

describe('metrics that are too large', () => {
  test('are cut by component, each in one part, all of them, in order', () => {
    const text = JSON.stringify({
      lapi: { version: '1.7', metrics: [{ items: [1] }] },
      remediation_components: Array.from({ length: 7 }, (_, i) => component(`r${i}`, 300)),
      log_processors: Array.from({ length: 5 }, (_, i) => component(`p${i}`, 300)),
    });
    const parts = splitMetrics(Buffer.from(text), 1500).map(
      (part) =>
        JSON.parse(String(part)) as Record<
          'remediation_components' | 'log_processors',
          { name: string }[]
        > & {
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
    expect(splitMetrics(Buffer.from(text), 120).join('')).toMatch(/12345678901234567890.*1\.10/);
  });

  test('never multiply what each part repeats, and have a bound on components', () => {
    const twice = JSON.stringify({
      lapi: { pad: 'y'.repeat(400) },
      log_processors: [component('a', 500), component('b', 500)],
    });
    expect(splitMetrics(Buffer.from(twice), 1000).map(String)).toEqual([twice]);
    const many = Buffer.from(`{"log_processors":[${'{},'.repeat(20_000)}{}]}`);
    expect(() => splitMetrics(many, 1000)).toThrow('More than 10000 components');
  });

  test('stay whole when they fit, have one component, or are something else', () => {
    const large = JSON.stringify({ log_processors: [component('a', 500)] });
    for (const text of ['{}', '[]', large, `[${'1,'.repeat(300)}1]`, 'not json '.repeat(100)])
      expect(splitMetrics(Buffer.from(text), 200).map(String)).toEqual([text]);
    for (const broken of [
      large.slice(0, -1),
      `${large}x`,
      '{'.repeat(500),
      `{"log_processors":[${'1 2,'.repeat(90)}]}`,
    ])
      expect(splitMetrics(Buffer.from(broken), 200).map(String)).toEqual([broken]);
    expect(METRICS_PART_BYTES).toBeLessThan(10 * 1024 * 1024);
  });
});
