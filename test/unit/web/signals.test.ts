import { describe, expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface Start {
  offset: number;
  until: string | null;
}
const { pageAfter } = await loadWeb<{
  pageAfter(last: { receivedAt: string }[], start: Start): Start | undefined;
}>('pages/signals/alerts/page-after');

describe('the next page of alerts', () => {
  const page = (ends: string, length = 200) =>
    Array.from({ length }, (_, index) => ({
      receivedAt: index === length - 1 ? ends : '2026-11-30T10:00:00.000Z',
    }));
  const [ten, nine] = ['2026-11-30T10:00:00.000Z', '2026-11-30T09:00:00.000Z'];

  test('begins where the last one ended, however many alerts have left the list since', () => {
    expect(pageAfter(page(nine), { offset: 0, until: null })).toEqual({ offset: 0, until: nine });
    expect(pageAfter(page(nine), { offset: 400, until: ten })).toEqual({ offset: 0, until: nine });
  });

  test('goes on within a moment of which there are more than a page', () => {
    expect(pageAfter(page(ten), { offset: 0, until: ten })).toEqual({ offset: 200, until: ten });
    expect(pageAfter(page(ten), { offset: 200, until: ten })).toEqual({ offset: 400, until: ten });
  });

  test('is none behind a page that is not full', () => {
    expect(pageAfter(page(nine, 199), { offset: 0, until: ten })).toBeUndefined();
    expect(pageAfter([], { offset: 0, until: null })).toBeUndefined();
  });
});

interface Watcher {
  waiting: number;
  pausedSince: string | null;
  lastSuccess: string | null;
  lastError: { at: string; cause: string; message: string } | null;
}
const { failureOf } = await loadWeb<{ failureOf(forwarding: { watchers: Watcher[] }): string | null }>(
  'pages/signals/overview/capi-failure',
);

describe('the central API is shown as away', () => {
  const failing: Watcher = {
    waiting: 1,
    pausedSince: null,
    lastSuccess: '2026-11-30T09:00:00.000Z',
    lastError: { at: '2026-11-30T10:00:00.000Z', cause: 'server-error', message: 'CAPI answered 503' },
  };

  test('while signals wait because of it', () => {
    expect(failureOf({ watchers: [failing] })).toBe('CAPI answered 503');
    expect(failureOf({ watchers: [{ ...failing, lastSuccess: null }] })).toBe('CAPI answered 503');
  });

  test.each(['network', 'server-error', 'rate-limited', 'forbidden'])(
    'for %s, which is the same for all, until it takes signals of another watcher',
    (cause) => {
      const here = { ...failing, lastError: { ...failing.lastError!, cause } };
      const other = { ...failing, waiting: 0, lastError: null };
      expect(failureOf({ watchers: [other, here] })).toBe('CAPI answered 503');
      expect(
        failureOf({ watchers: [here, { ...other, lastSuccess: '2026-11-30T11:00:00.000Z' }] }),
      ).toBeNull();
    },
  );

  test.each(['unauthorized', 'no-token'])('not where one watcher waits for a login: %s', (cause) => {
    const waits = { ...failing, lastSuccess: null, lastError: { ...failing.lastError!, cause } };
    expect(failureOf({ watchers: [waits, { ...failing, waiting: 0 }] })).toBeNull();
    expect(failureOf({ watchers: [waits] })).toBeNull();
    expect(failureOf({ watchers: [waits, failing] })).toBe('CAPI answered 503');
  });

  test.each<[string, Partial<Watcher>]>([
    ['nothing waits', { waiting: 0 }],
    ['it has taken some since', { lastSuccess: '2026-11-30T11:00:00.000Z' }],
    ['a person paused them', { pausedSince: '2026-11-30T11:00:00.000Z' }],
    ['one of them was refused', { lastError: { ...failing.lastError!, cause: 'refused' } }],
  ])('not where %s', (_where, change) => {
    expect(failureOf({ watchers: [{ ...failing, ...change }] })).toBeNull();
  });
});

const { prettyJson } = await loadWeb<{ prettyJson(rawJson: string): string }>(
  'pages/signals/alerts/read-raw',
);

describe('a raw signal', () => {
  test('is indented where its numbers stay as they are', () => {
    const signal = { id: 12, latitude: 48.858370000000001, text: 'id "9007199254740993"' };
    expect(prettyJson(JSON.stringify(signal))).toBe(JSON.stringify(signal, null, 2));
  });

  test.each(['{"id":9007199254740993}', '{"at":[-1234567890.1234567890]}'])('is %s as it was sent', (raw) => {
    expect(prettyJson(raw)).toBe(raw);
  });
});
