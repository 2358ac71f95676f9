import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { WatcherStore } from '../../../activities/ports/signals.js';
import { times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

function newWatcher(): string {
  return `w-${randomUUID()}`;
}

function newToken(): string {
  return `token-${randomUUID()}`;
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

const NOON = new Date('2026-03-01T12:00:00Z');

function minutes(count: number): Date {
  return new Date(NOON.getTime() + count * 60_000);
}

function hours(count: number): Date {
  return new Date(Date.UTC(2026, 2, 1, count));
}

/** What every watcher store promises: the newest token that CAPI has not refused, and one login asked for. */
export function watcherStoreContract(subject: Subject<WatcherStore>): void {
  describe(`watcher store (${subject.name})`, () => {
    const store = useSubject(subject);
    const saved = async (expiresAt: Date | null = hours(1), watcher = newWatcher()) => {
      const token = newToken();
      expect(await store().saveToken(watcher, token, expiresAt)).toMatchObject({ newer: true });
      return { watcher, token, digest: digestOf(token) };
    };

    test('an unknown watcher has nothing', async () => {
      const watcher = newWatcher();
      expect(await store().get(watcher)).toBeNull();
      expect(await store().token(watcher)).toBeNull();
      expect(await store().takeLoginWanted(watcher, NOON)).toBe(false);
      expect(await store().watcherOfToken('ab'.repeat(32))).toBeNull();
    });

    test('a pause keeps its first time, and ends', async () => {
      const watcher = newWatcher();
      await store().setPaused(watcher, hours(1));
      await store().setPaused(watcher, hours(2));
      expect((await store().get(watcher))?.pausedAt).toEqual(hours(1));
      await store().recordSuccess(watcher, hours(3));
      expect((await store().get(watcher))?.pausedAt).toEqual(hours(1));
      await store().setPaused(watcher, null);
      expect((await store().get(watcher))?.pausedAt).toBeNull();
    });

    describe('tokens', () => {
      test('a saved token is given back with its digest', async () => {
        const { watcher, token, digest } = await saved();
        expect(await store().token(watcher)).toEqual({ token, digest });
        expect(await store().get(watcher)).toEqual({
          watcher,
          hasToken: true,
          tokenExpiresAt: hours(1),
          tokenUpdatedAt: expect.any(Date),
          loginWanted: false,
          lastSuccessAt: null,
          lastError: null,
          nextAttemptAt: null,
          pausedAt: null,
        });
      });

      test('the same token again is not newer', async () => {
        const { watcher, token } = await saved();
        expect(await store().saveToken(watcher, token, hours(1))).toMatchObject({ newer: false });
      });

      test('the later expiry wins, whatever comes first', async () => {
        const { watcher, token } = await saved(hours(5));
        expect(await store().saveToken(watcher, newToken(), hours(4))).toMatchObject({ newer: false });
        expect((await store().token(watcher))?.token).toBe(token);
        const newest = newToken();
        expect(await store().saveToken(watcher, newest, hours(6))).toMatchObject({ newer: true });
        expect((await store().token(watcher))?.token).toBe(newest);
      });

      test('without an expiry the later arrival wins, and an old one does not come back', async () => {
        const { watcher, token: first } = await saved(null);
        const second = newToken();
        expect(await store().saveToken(watcher, second, null)).toMatchObject({ newer: true });
        expect(await store().saveToken(watcher, first, null)).toMatchObject({ newer: false });
        expect((await store().token(watcher))?.token).toBe(second);
        expect(await store().saveToken(watcher, newToken(), hours(1))).toMatchObject({ newer: true });
        expect(await store().saveToken(watcher, second, null)).toMatchObject({ newer: false });
      });

      test('two tokens of the same second go by arrival', async () => {
        const { watcher, token: first } = await saved(hours(1));
        expect(await store().saveToken(watcher, newToken(), hours(1))).toMatchObject({ newer: true });
        expect(await store().saveToken(watcher, first, hours(1))).toMatchObject({ newer: false });
      });

      test('the same new token from 20 requests at once is newer once', async () => {
        const { watcher } = await saved();
        const token = newToken();
        const answers = await Promise.all(times(20, () => store().saveToken(watcher, token, hours(2))));
        expect(answers.filter(({ newer }) => newer)).toHaveLength(1);
      });

      test('of 20 first tokens at once the latest stays', async () => {
        const watcher = newWatcher();
        const tokens = times(20, newToken);
        await Promise.all(tokens.map((token, index) => store().saveToken(watcher, token, hours(index + 1))));
        expect((await store().token(watcher))?.token).toBe(tokens[19]);
      });

      test('every token tells its watcher, also one that was not taken', async () => {
        const { watcher, digest } = await saved(hours(5));
        const older = newToken();
        await store().saveToken(watcher, older, hours(1));
        expect(await store().watcherOfToken(digest)).toBe(watcher);
        expect(await store().watcherOfToken(digestOf(older))).toBe(watcher);
        const { digest: other, watcher: otherWatcher } = await saved();
        expect(await store().watcherOfToken(other)).toBe(otherWatcher);
      });
    });

    describe('tokens that CAPI took', () => {
      const minted = () => {
        const token = newToken();
        return { token, digest: digestOf(token) };
      };

      test('are not displaced by one that it never took, whatever that says of its end', async () => {
        const watcher = newWatcher();
        const [good, next] = [minted(), minted()];
        await store().acceptToken(watcher, good.digest);
        expect(await store().saveToken(watcher, good.token, hours(1))).toMatchObject({ newer: true });
        for (const end of [hours(9), hours(1), null]) {
          const madeUp = minted();
          expect(await store().saveToken(watcher, madeUp.token, end)).toMatchObject({ newer: false });
          expect(await store().watcherOfToken(madeUp.digest)).toBeNull();
        }
        expect((await store().token(watcher))?.token).toBe(good.token);
        await store().acceptToken(watcher, next.digest);
        expect(await store().saveToken(watcher, next.token, hours(2))).toMatchObject({ newer: true });
        expect((await store().token(watcher))?.token).toBe(next.token);
        expect(await store().saveToken(watcher, good.token, hours(1))).toMatchObject({ newer: false });
      });

      test('displace one that it never took, also with an earlier end or without any', async () => {
        for (const end of [hours(1), null]) {
          const { watcher } = await saved(hours(9));
          const good = minted();
          await store().acceptToken(watcher, good.digest);
          expect(await store().saveToken(watcher, good.token, end)).toMatchObject({ newer: true });
          expect((await store().token(watcher))?.token).toBe(good.token);
        }
      });

      test('stay when they were taken after they had been saved, until they are refused', async () => {
        const { watcher, token, digest } = await saved(hours(1));
        await store().acceptToken(watcher, digest);
        const other = minted();
        expect(await store().saveToken(watcher, other.token, hours(9))).toMatchObject({ newer: false });
        expect((await store().token(watcher))?.token).toBe(token);
        await store().refuseToken(watcher, digest);
        expect(await store().saveToken(watcher, other.token, hours(9))).toMatchObject({ newer: true });
      });
    });

    describe('refusal', () => {
      test('a refused token is not handed out and never taken again', async () => {
        const { watcher, token, digest } = await saved();
        await store().refuseToken(watcher, digest);
        expect(await store().token(watcher)).toBeNull();
        expect(await store().saveToken(watcher, token, hours(9))).toMatchObject({ newer: false });
        expect(await store().token(watcher)).toBeNull();
        expect(await store().get(watcher)).toMatchObject({ hasToken: false, loginWanted: true });
        await saved(hours(10), watcher);
        expect(await store().saveToken(watcher, token, hours(99))).toMatchObject({ newer: false });
      });

      test('asks for a login once, of 20 requests at once', async () => {
        const { watcher, digest } = await saved();
        await store().refuseToken(watcher, digest);
        const told = await Promise.all(times(20, () => store().takeLoginWanted(watcher, NOON)));
        expect(told.filter(Boolean)).toHaveLength(1);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(false);
      });

      test('asks again a minute later, until there is a newer token', async () => {
        const { watcher, digest } = await saved();
        await store().refuseToken(watcher, digest);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(true);
        expect(await store().takeLoginWanted(watcher, minutes(0.9))).toBe(false);
        expect(await store().get(watcher)).toMatchObject({ loginWanted: true });
        expect(await store().takeLoginWanted(watcher, minutes(1))).toBe(true);
        expect(await store().takeLoginWanted(watcher, minutes(1.5))).toBe(false);
        const newer = await saved(hours(10), watcher);
        expect(await store().takeLoginWanted(watcher, minutes(5))).toBe(false);
        await store().refuseToken(watcher, newer.digest);
        expect(await store().takeLoginWanted(watcher, minutes(5))).toBe(true);
      });

      test('a login can be wanted without a refusal, but not with a good token', async () => {
        const without = newWatcher();
        await store().wantLogin(without);
        expect(await store().takeLoginWanted(without, NOON)).toBe(true);
        await store().wantLogin(without);
        expect(await store().takeLoginWanted(without, NOON)).toBe(false);
        const { watcher } = await saved();
        await store().wantLogin(watcher);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(false);
        expect(await store().token(watcher)).not.toBeNull();
      });

      test('a kept token tells with it whether a login is wanted', async () => {
        const { watcher, token, digest } = await saved(hours(1));
        const again = () => store().saveToken(watcher, token, hours(1));
        expect(await again()).toEqual({ newer: false, loginWanted: false });
        await store().refuseToken(watcher, digest);
        expect(await again()).toEqual({ newer: false, loginWanted: true });
        const next = await store().saveToken(watcher, newToken(), hours(2));
        expect(next).toEqual({ newer: true, loginWanted: false });
      });

      test('repeating a refusal asks for no second login', async () => {
        const { watcher, digest } = await saved();
        await store().refuseToken(watcher, digest);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(true);
        await store().refuseToken(watcher, digest);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(false);
      });

      test('a refused token that a newer one has replaced asks for no login', async () => {
        const { watcher, digest } = await saved(hours(1));
        const { token } = await saved(hours(2), watcher);
        await store().refuseToken(watcher, digest);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(false);
        expect((await store().token(watcher))?.token).toBe(token);
      });

      test('a login that comes by itself answers the wish', async () => {
        const { watcher, digest } = await saved(hours(1));
        await store().refuseToken(watcher, digest);
        await saved(hours(2), watcher);
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(false);
      });

      test('refusing a token nobody saved asks for a login all the same', async () => {
        const watcher = newWatcher();
        await store().refuseToken(watcher, digestOf('unknown'));
        expect(await store().takeLoginWanted(watcher, NOON)).toBe(true);
        expect(await store().saveToken(watcher, 'unknown', null)).toMatchObject({ newer: false });
      });
    });

    describe('unknown watchers', () => {
      const newPlace = (places = 2) => ({
        address: `address-${randomUUID()}`,
        at: NOON,
        places,
        lifetimeMs: 10 * 60_000,
      });
      const expired = async (at: Date, own: readonly string[]) =>
        (await store().expiredUnknownWatchers(at, 1_000)).filter(({ watcher }) => own.includes(watcher));

      test('an address has so many, and the next is told when to come', async () => {
        const place = newPlace();
        const [a, b, c] = times(3, newWatcher) as [string, string, string];
        expect(await store().admit(a, place)).toBe('unknown');
        expect(await store().admit(b, { ...place, at: minutes(1) })).toBe('unknown');
        expect(await store().admit(c, { ...place, at: minutes(2) })).toEqual(minutes(10));
        expect(await store().get(c)).toBeNull();
        expect(await store().get(a)).toMatchObject({ watcher: a, hasToken: false, pausedAt: null });
        expect(await store().admit(a, place)).toBe('unknown');
        expect(await store().admit(c, newPlace())).toBe('unknown');
      });

      test('whose token CAPI takes is known and leaves its place, also by a success', async () => {
        const place = newPlace();
        const [a, b, c, d] = times(4, newWatcher) as [string, string, string, string];
        for (const watcher of [a, b]) await store().admit(watcher, place);
        await store().acceptToken(a, digestOf('taken'));
        expect(await store().admit(a, place)).toBe('known');
        expect(await store().admit(c, place)).toBe('unknown');
        await store().recordSuccess(b, NOON);
        expect(await store().admit(b, place)).toBe('known');
        expect(await store().admit(d, place)).toBe('unknown');
        expect(await expired(hours(24), [a, b])).toEqual([]);
      });

      test('a watcher with a record of its own is known', async () => {
        const { watcher } = await saved();
        expect(await store().admit(watcher, newPlace())).toBe('known');
      });

      test('one whose record came with its token, before it was admitted, is unknown', async () => {
        const place = newPlace(1);
        const { address, at, lifetimeMs } = place;
        const [a, b] = times(2, newWatcher) as [string, string];
        await store().admit(a, place);
        expect(await store().saveToken(b, newToken(), null, { address, at: minutes(1), lifetimeMs })).toEqual(
          {
            newer: true,
            loginWanted: false,
          },
        );
        expect(await store().admit(b, { ...place, at: minutes(2) })).toEqual(minutes(10));
        expect(await expired(at, [b])).toEqual([]);
        expect(await expired(minutes(11), [b])).toEqual([{ watcher: b, refused: false }]);
        // A record that is there stays what it is.
        await store().recordSuccess(b, NOON);
        await store().saveToken(b, newToken(), hours(9), { address, at, lifetimeMs });
        expect(await store().admit(b, place)).toBe('known');
      });

      test('one whose record forwarding made is unknown, and takes a place when it comes', async () => {
        const failure = { at: NOON, cause: 'network' as const, status: null, message: 'away' };
        const make = [
          (watcher: string) => store().wantLogin(watcher),
          (watcher: string) => store().refuseToken(watcher, digestOf('unknown')),
          (watcher: string) => store().recordError(watcher, failure, null),
        ];
        for (const makeRecord of make) {
          const place = newPlace(1);
          const [a, b] = times(2, newWatcher) as [string, string];
          await makeRecord(a);
          expect(await expired(new Date(Date.now() + 73 * 3_600_000), [a])).toHaveLength(1);
          expect(await store().admit(a, place)).toBe('unknown');
          expect(await expired(minutes(11), [a])).toHaveLength(1);
          expect(await store().admit(b, place)).toEqual(minutes(10));
          await makeRecord(b);
          expect(await store().admit(b, place)).toEqual(minutes(10));
          expect(await store().admit(a, place)).toBe('unknown');
        }
      });

      test('its time is over after its last push, and then its record can be removed', async () => {
        const place = newPlace();
        const [a, b] = times(2, newWatcher) as [string, string];
        await store().admit(a, place);
        await store().admit(b, place);
        expect(await store().admit(a, { ...place, at: minutes(6) })).toBe('unknown');
        expect(await expired(minutes(9), [a, b])).toEqual([]);
        expect(await expired(minutes(11), [a, b])).toEqual([{ watcher: b, refused: false }]);
        await store().removeUnknownWatcher(a, minutes(11));
        await store().removeUnknownWatcher(b, minutes(11));
        expect(await store().get(a)).not.toBeNull();
        expect(await store().get(b)).toBeNull();
        await store().prolongUnknownWatcher(a, minutes(30));
        expect(await expired(minutes(20), [a])).toEqual([]);
        expect(await expired(minutes(30), [a])).toEqual([{ watcher: a, refused: false }]);
        await store().setPaused(a, NOON);
        expect(await expired(minutes(30), [a])).toEqual([]);
      });

      test('a push in the first half of its time counts as well', async () => {
        const place = newPlace();
        const watcher = newWatcher();
        await store().admit(watcher, place);
        await store().admit(watcher, { ...place, at: minutes(4) });
        expect(await expired(minutes(13), [watcher])).toEqual([]);
        expect(await expired(minutes(14), [watcher])).toEqual([{ watcher, refused: false }]);
      });

      test('one that CAPI takes, or that is removed, while it pushes is not refused', async () => {
        const names = times(40, newWatcher);
        const verdicts = await Promise.all(
          names.map(async (watcher, index) => {
            const place = newPlace(1);
            await store().admit(watcher, place);
            const gone =
              index % 2 === 0
                ? store().acceptToken(watcher, digestOf(watcher))
                : store().removeUnknownWatcher(watcher, minutes(11));
            const [verdict] = await Promise.all([store().admit(watcher, place), gone]);
            return verdict;
          }),
        );
        expect(verdicts.filter((verdict) => verdict instanceof Date)).toEqual([]);
      });

      test('it is told whether CAPI refused the token', async () => {
        const place = newPlace();
        const watcher = newWatcher();
        await store().admit(watcher, place);
        const { digest } = await saved(hours(1), watcher);
        expect(await expired(minutes(11), [watcher])).toEqual([{ watcher, refused: false }]);
        await store().refuseToken(watcher, digest);
        expect(await expired(minutes(11), [watcher])).toEqual([{ watcher, refused: true }]);
      });

      test('of 20 at once no more than there are places stay', async () => {
        const place = newPlace(5);
        const names = times(20, newWatcher);
        await Promise.all(names.map((watcher) => store().admit(watcher, place)));
        const again = await Promise.all(names.map((watcher) => store().admit(watcher, place)));
        expect(again.filter((verdict) => verdict === 'unknown')).toHaveLength(5);
        expect(again.filter((verdict) => verdict instanceof Date)).toHaveLength(15);
      });
    });

    describe('progress', () => {
      const failure = { at: hours(1), cause: 'server-error' as const, status: 503, message: 'away' };

      test('an error is kept with the next attempt, for a watcher without a token too', async () => {
        const watcher = newWatcher();
        await store().recordError(watcher, failure, hours(2));
        expect(await store().get(watcher)).toMatchObject({ lastError: failure, nextAttemptAt: hours(2) });
        expect((await store().list()).map((record) => record.watcher)).toContain(watcher);
      });

      test('a success clears the next attempt, keeps the last error, and never goes back in time', async () => {
        const watcher = newWatcher();
        await store().recordError(watcher, failure, hours(2));
        await store().recordSuccess(watcher, hours(4));
        await store().recordSuccess(watcher, hours(3));
        expect(await store().get(watcher)).toMatchObject({
          lastSuccessAt: hours(4),
          lastError: failure,
          nextAttemptAt: null,
        });
      });

      test('who backs off from an outage although CAPI took signals of another since is named', async () => {
        const [held, other, limited, late, due] = times(5, newWatcher) as [
          string,
          string,
          string,
          string,
          string,
        ];
        const named = async () => {
          const own = [held, other, limited, late, due];
          return (await store().heldByOutage(hours(4), 1_000))
            .filter((watcher) => own.includes(watcher))
            .sort();
        };
        const network = { ...failure, cause: 'network' as const, status: null };
        const later = (part: number) => new Date(hours(240).getTime() + part * 3_600_000);
        await store().recordError(held, { ...network, at: later(0) }, later(1));
        await store().recordError(other, { ...failure, at: later(0) }, later(1));
        await store().recordError(
          limited,
          { ...failure, at: later(0), cause: 'rate-limited', status: 429 },
          later(1),
        );
        await store().recordError(due, { ...failure, at: hours(1) }, hours(3));
        expect(await named()).toEqual([]);
        const success = newWatcher();
        await store().recordSuccess(success, later(0.5));
        expect(await named()).toEqual([held, other].sort());
        await store().recordError(late, { ...failure, at: later(0.75) }, later(1));
        expect(await named()).toEqual([held, other].sort());
        await store().recordSuccess(other, later(0.8));
        expect(await named()).toEqual([held, late].sort());
        for (const watcher of [held, late]) await store().recordSuccess(watcher, later(0.9));
        expect(await named()).toEqual([]);
      });

      test('20 writers at once make one record', async () => {
        const watcher = newWatcher();
        await Promise.all(times(20, (index) => store().recordSuccess(watcher, hours(index))));
        expect((await store().list()).filter((record) => record.watcher === watcher)).toHaveLength(1);
        expect((await store().get(watcher))?.lastSuccessAt).toEqual(hours(19));
      });
    });
  });
}
