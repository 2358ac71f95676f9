import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { LoginStore } from '../../../activities/ports/logins.js';
import { times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const HOUR = 3_600_000;

function machine(): string {
  return `m-${randomUUID()}`;
}

/** What every login store promises. Blocks and the budget concern all machines: each test has an hour of its own. */
export function loginStoreContract(subject: Subject<LoginStore>): void {
  describe(`login store (${subject.name})`, () => {
    const store = useSubject(subject);
    let hour = 0;
    const at = (minutes: number): Date =>
      new Date(Date.UTC(2026, 0, 1) + hour * 24 * HOUR + minutes * 60_000);
    const nextDay = (): void => void (hour += 1);
    const block = (status: number, minutes = 60) => ({
      status,
      message: `answer ${status}`,
      at: at(0),
      until: at(minutes),
    });
    const login = (token: string = randomUUID()) => ({
      watcher: 'w',
      token,
      expiresAt: at(60),
      scenarios: 's',
    });

    test('the last refused login of each machine is kept, of so many machines, until it is let in', async () => {
      nextDay();
      const shown = async () => (await store().overview(at(60), HOUR)).refused;
      const refuse = (machineId: string, minutes: number, known = false) =>
        store().noteRefused({ machineId, status: 429, message: `at ${minutes}`, at: at(minutes) }, known);
      const [real, other] = [machine(), machine()];
      await refuse(real, 1, true);
      await refuse(other, 2, true);
      await refuse(real, 3, true);
      for (const index of times(60, (each) => each)) await refuse(`made-up-${index}`, 4);
      const all = await shown();
      expect(all.slice(-2)).toEqual([
        { machineId: real, status: 429, message: 'at 3', at: at(3) },
        { machineId: other, status: 429, message: 'at 2', at: at(2) },
      ]);
      expect(all).toHaveLength(52);
      expect(all[0]).toMatchObject({ machineId: 'made-up-59' });
      await store().remember(real, 'secret', login(), at(5));
      expect((await shown()).map(({ machineId }) => machineId)).not.toContain(real);
      await store().remember(other, 'secret', login(), at(5));
      expect((await store().overview(at(25 * 60), HOUR)).refused).toEqual([]);
    });

    test('an accepted login is recalled with the same password only, and the newest wins', async () => {
      nextDay();
      const [name, other] = [machine(), machine()];
      expect(await store().recall(name, 'secret')).toBeNull();
      await store().remember(name, 'secret', login('old'), at(0));
      const { expiresAt, ...rest } = login('new');
      await store().remember(name, 'secret', { ...rest, expiresAt }, at(0));
      expect(await store().recall(name, 'secret')).toEqual({
        watcher: 'w',
        token: 'new',
        scenarios: 's',
        expiresAt,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      for (const wrong of ['Secret', '', 'secret ', 'secre'])
        expect(await store().recall(name, wrong)).toBeNull();
      expect(await store().recall(other, 'secret')).toBeNull();
    });

    test('the budget holds however many ask at once, and is free again after the window', async () => {
      nextDay();
      const budget = { logins: 3, windowMs: HOUR };
      const answers = await Promise.all(times(8, (i) => store().reserve(at(i), budget)));
      expect(answers.filter((answer) => answer === null)).toHaveLength(3);
      for (const answer of answers)
        if (answer !== null) expect(answer.getTime()).toBeGreaterThanOrEqual(at(60).getTime());
      expect((await store().overview(at(10), HOUR)).used).toBe(3);
      expect((await store().overview(at(300), HOUR)).used).toBe(0);
      expect(await store().reserve(at(120), budget)).toBeNull();
    });

    test('a share has places of its own, of which each can be given back', async () => {
      const budget = { logins: 3, windowMs: HOUR };
      nextDay();
      const [mine, other] = [`address ${randomUUID()}`, `address ${randomUUID()}`];
      const used = (await store().overview(at(2), HOUR)).used;
      const taken = await Promise.all(times(10, () => store().reserveShare(mine, at(0), budget)));
      expect(taken.filter((free) => free === null)).toHaveLength(budget.logins);
      expect(await store().reserveShare(mine, at(1), budget)).toEqual(at(60));
      expect(await store().reserveShare(other, at(1), budget)).toBeNull();
      await store().releaseShare(other, at(1));
      expect(await store().reserveShare(mine, at(61), budget)).toBeNull();
      expect((await store().overview(at(2), HOUR)).used).toBe(used);
    });

    test('of several places that were taken in the same moment one is given back', async () => {
      const budget = { logins: 3, windowMs: HOUR };
      nextDay();
      const share = `address ${randomUUID()}`;
      const take = {
        everyone: () => store().reserve(at(0), budget),
        share: () => store().reserveShare(share, at(0), budget),
      };
      const giveBack = {
        everyone: () => store().release(at(0)),
        share: () => store().releaseShare(share, at(0)),
      };
      const used = async () => (await store().overview(at(1), HOUR)).used;
      for (const which of ['everyone', 'share'] as const) {
        for (let place = 0; place < 3; place += 1) expect(await take[which]()).toBeNull();
        await giveBack[which]();
        expect(await take[which]()).toBeNull();
        expect([which, await take[which]()]).toEqual([which, at(60)]);
        await giveBack[which]();
      }
      expect(await used()).toBe(2);
      await Promise.all([store().release(at(0)), store().release(at(0)), store().release(at(30))]);
      expect(await used()).toBe(0);
    });

    test('a password that was taken is known, also when its token has ended', async () => {
      const name = machine();
      expect(await store().wasTaken(name, 'p')).toBe(false);
      await store().remember(name, 'p', login(), at(0));
      expect([await store().wasTaken(name, 'p'), await store().wasTaken(name, 'q')]).toEqual([true, false]);
    });

    test('a 429 stands in the way of everybody until it is over', async () => {
      nextDay();
      const [name, other] = [machine(), machine()];
      await store().block(name, 'p', block(429, 5));
      expect(await store().blockOf(other, 'q', at(4))).toEqual({ ...block(429, 5), machineId: null });
      expect((await store().overview(at(4), HOUR)).blocks).toEqual([{ ...block(429, 5), machineId: null }]);
      expect(await store().blockOf(other, 'q', at(5))).toBeNull();
    });

    test('a 403 stands in the way of the same password, and two of them of everybody', async () => {
      nextDay();
      const [first, second, third] = [machine(), machine(), machine()];
      for (const one of [first, second]) await store().remember(one, 'p', login(), at(0));
      await store().block(first, 'p', block(403));
      expect(await store().blockOf(first, 'p', at(1))).toEqual({ ...block(403), machineId: first });
      expect(await store().blockOf(first, 'mended', at(1))).toBeNull();
      expect(await store().blockOf(third, 'p', at(1))).toBeNull();
      await store().block(second, 'p', block(403));
      expect(await store().blockOf(third, 'p', at(1))).toEqual({ ...block(403), machineId: null });
      expect(await store().blockOf(third, 'p', at(61))).toBeNull();
      // One that is let in shows that the others were refused for themselves.
      await store().remember(third, 'p', login(), at(2));
      expect(await store().blockOf(third, 'p', at(3))).toBeNull();
      expect((await store().blockOf(second, 'p', at(3)))?.machineId).toBe(second);
    });

    test("403s for passwords that CAPI never took stand in nobody else's way", async () => {
      nextDay();
      const [holder, another, outsider] = [machine(), machine(), machine()];
      for (const made of times(5, machine)) await store().block(made, 'p', block(403));
      expect(await store().blockOf(outsider, 'p', at(1))).toBeNull();
      await store().remember(holder, 'p', login(), at(0));
      for (const made of times(5, machine)) await store().block(made, 'p', block(403));
      expect(await store().blockOf(outsider, 'p', at(1))).toBeNull();
      // Those who were let in before are another matter.
      await store().remember(another, 'p', login(), at(0));
      await store().block(holder, 'p', block(403));
      expect(await store().blockOf(outsider, 'p', at(1))).toBeNull();
      await store().block(another, 'p', block(403));
      expect((await store().blockOf(outsider, 'p', at(1)))?.machineId).toBeNull();
    });

    test('a password that was refused for itself once counts no more, however often it comes', async () => {
      nextDay();
      const [first, second, third, fourth] = [machine(), machine(), machine(), machine()];
      for (const one of [first, second]) await store().remember(one, 'p', login(), at(0));
      await store().block(first, 'p', block(403));
      await store().block(second, 'p', block(403));
      await store().remember(third, 'p', login(), at(1));
      nextDay();
      await store().block(first, 'p', block(403));
      await store().block(second, 'p', block(403));
      expect((await store().blockOf(first, 'p', at(1)))?.machineId).toBe(first);
      expect(await store().blockOf(fourth, 'p', at(1))).toBeNull();
      // Another password is a new question.
      for (const one of [first, second]) await store().remember(one, 'q', login(), at(1));
      await store().block(first, 'q', block(403));
      await store().block(second, 'q', block(403));
      expect((await store().blockOf(fourth, 'p', at(1)))?.machineId).toBeNull();
    });

    test('a 403 for a password that CAPI never took leaves the one for the password that it took', async () => {
      nextDay();
      const [first, second, third] = [machine(), machine(), machine()];
      for (const one of [first, second]) await store().remember(one, 'p', login(), at(0));
      await store().block(first, 'p', block(403));
      await store().block(first, 'wrong', block(403));
      expect(await store().blockOf(first, 'p', at(1))).toEqual({ ...block(403), machineId: first });
      await store().block(second, 'p', block(403));
      expect((await store().blockOf(third, 'p', at(1)))?.machineId).toBeNull();
      // One that is over gives way.
      await store().block(first, 'wrong', { ...block(403, 120), at: at(60) });
      expect((await store().blockOf(first, 'wrong', at(61)))?.machineId).toBe(first);
    });

    test('a login that succeeds after a 403 has run out does not show what that was about', async () => {
      nextDay();
      const [first, second, third, fourth] = [machine(), machine(), machine(), machine()];
      for (const one of [first, second]) await store().remember(one, 'p', login(), at(0));
      await store().block(first, 'p', block(403));
      await store().block(second, 'p', block(403));
      expect((await store().blockOf(fourth, 'p', at(1)))?.machineId).toBeNull();
      await store().remember(third, 'p', login(), at(61));
      await store().block(first, 'p', block(403, 120));
      await store().block(second, 'p', block(403, 120));
      expect((await store().blockOf(fourth, 'p', at(62)))?.machineId).toBeNull();
    });

    test('an operator lifts it', async () => {
      nextDay();
      const [first, second] = [machine(), machine()];
      for (const one of [first, second]) await store().remember(one, 'p', login(), at(0));
      await store().block(first, 'p', block(403));
      await store().block(second, 'p', block(403));
      await store().block(second, 'p', block(429));
      await store().unblock(first, at(50));
      expect(await store().blockOf(first, 'p', at(1))).toBeNull();
      expect((await store().blockOf(second, 'p', at(1)))?.machineId).toBe(second);
      // and lets that machine pass once, known or not
      expect(await store().takeExemption(second, at(1))).toBeNull();
      expect(await store().takeExemption(first, at(1))).toEqual(at(50));
      expect(await store().takeExemption(first, at(1))).toBeNull();
      const unheard = machine();
      await store().unblock(unheard, at(50));
      const taken = await Promise.all(times(8, () => store().takeExemption(unheard, at(1))));
      expect(taken.filter((until) => until !== null)).toEqual([at(50)]);
    });

    test('an exemption ends with its time and with a login that succeeds, and can be given back', async () => {
      nextDay();
      const [late, taken, returned] = [machine(), machine(), machine()];
      for (const one of [late, taken, returned]) await store().unblock(one, at(50));
      expect(await store().takeExemption(late, at(50))).toBeNull();
      await store().remember(taken, 'p', login(), at(1));
      expect(await store().takeExemption(taken, at(2))).toBeNull();
      expect(await store().takeExemption(returned, at(2))).toEqual(at(50));
      await store().returnExemption(returned, at(50));
      expect(await store().takeExemption(returned, at(3))).toEqual(at(50));
      // One that was given meanwhile stays.
      await store().unblock(returned, at(70));
      await store().returnExemption(returned, at(50));
      expect(await store().takeExemption(returned, at(60))).toEqual(at(70));
    });
  });
}
