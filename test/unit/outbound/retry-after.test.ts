import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from '../../../activities/outbound/retry-after.js';

const NOW = Date.UTC(2026, 0, 1);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('%j → %j', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });
});
