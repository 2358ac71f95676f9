import { createHash } from 'node:crypto';
import type {
  LoginBlock,
  LoginStore,
  RefusedLogin,
  RememberedLogin,
} from '../../../../activities/ports/logins.js';
import { copyRecord } from '../copy-record.js';

interface Kept {
  login?: RememberedLogin & { password: string };
  block?: KeptBlock;
  exemptUntil?: Date;
}
type KeptBlock = LoginBlock & { password: string; suspect: boolean; disproved: boolean };

function withoutOne(times: readonly Date[], at: Date): Date[] {
  const place = times.findIndex((time) => time.getTime() === at.getTime());
  return times.filter((_, index) => index !== place);
}

/** Logins in a Map; passwords as they are. */
export function createFakeLoginStore(): LoginStore {
  const kept = new Map<string, Kept>();
  let passed: Date[] = [];
  let refusals: (RefusedLogin & { known: boolean })[] = [];
  const shares = new Map<string, Date[]>();
  const of = (id: string): Kept => {
    const known = kept.get(id) ?? {};
    kept.set(id, known);
    return known;
  };
  const suspects = () => [...kept.values()].flatMap(({ block }) => (block?.suspect === true ? [block] : []));
  const inForce = (at: Date) =>
    [...kept.values()].flatMap(({ block }) => (block !== undefined && block.until > at ? [block] : []));
  const plain = ({ password: _p, suspect: _s, disproved: _d, ...block }: KeptBlock) => copyRecord(block);
  return {
    async remember(machineId, password, login, at) {
      const digest = createHash('sha256').update(login.token).digest('hex');
      const known = of(machineId);
      known.login = copyRecord({ ...login, digest, password });
      delete known.block;
      delete known.exemptUntil;
      delete of('*').block;
      for (const block of suspects())
        if (block.until > at) Object.assign(block, { suspect: false, disproved: true });
      refusals = refusals.filter((refusal) => refusal.machineId !== machineId);
    },
    async recall(machineId, password) {
      const login = kept.get(machineId)?.login;
      if (login?.password !== password) return null;
      const { password: _password, ...remembered } = login;
      return copyRecord(remembered);
    },
    async reserve(at, { logins, windowMs }) {
      passed = passed.filter((time) => time.getTime() > at.getTime() - windowMs);
      if (passed.length >= logins) return new Date(passed[0]!.getTime() + windowMs);
      passed.push(new Date(at));
      return null;
    },
    async reserveShare(share, at, { logins, windowMs }) {
      const taken = (shares.get(share) ?? []).filter((time) => time.getTime() > at.getTime() - windowMs);
      if (taken.length >= logins) return new Date(taken[0]!.getTime() + windowMs);
      shares.set(share, [...taken, new Date(at)]);
      return null;
    },
    async release(at) {
      passed = withoutOne(passed, at);
    },
    async releaseShare(share, at) {
      shares.set(share, withoutOne(shares.get(share) ?? [], at));
    },
    async wasTaken(machineId, password) {
      return kept.get(machineId)?.login?.password === password;
    },
    async block(machineId, password, block) {
      const all = block.status === 429;
      const { login, block: before } = of(machineId);
      const another = login !== undefined && login.password !== password && before?.password !== password;
      if (!all && another && before !== undefined && before.until > block.at) return;
      const disproved = before?.password === password && before.disproved;
      const suspect = !all && !disproved && login?.password === password;
      of(all ? '*' : machineId).block = copyRecord({
        ...block,
        machineId: all ? null : machineId,
        password,
        suspect,
        disproved: !all && disproved,
      });
    },
    async blockOf(machineId, password, at) {
      const blocks = inForce(at);
      const found =
        blocks.find((block) => block.machineId === null) ??
        blocks.find((block) => block.machineId === machineId && block.password === password);
      if (found !== undefined) return plain(found);
      const [first, second] = blocks
        .filter(({ suspect }) => suspect)
        .sort((a, b) => a.until.getTime() - b.until.getTime());
      return first === undefined || second === undefined ? null : { ...plain(first), machineId: null };
    },
    async noteRefused(refused, known) {
      const others = refusals.filter((one) => one.machineId !== refused.machineId || one.known !== known);
      const alike = [...others.filter((one) => one.known === known), copyRecord({ ...refused, known })];
      refusals = [...others.filter((one) => one.known !== known), ...alike.slice(-50)];
    },
    async unblock(machineId, until) {
      delete of(machineId).block;
      delete of('*').block;
      for (const block of suspects()) block.suspect = false;
      of(machineId).exemptUntil = new Date(until);
    },
    async takeExemption(machineId, at) {
      const { exemptUntil: until } = of(machineId);
      if (until === undefined || until <= at) return null;
      delete of(machineId).exemptUntil;
      return until;
    },
    async returnExemption(machineId, until) {
      of(machineId).exemptUntil ??= new Date(until);
    },
    async overview(at, windowMs) {
      return {
        used: passed.filter((time) => time.getTime() > at.getTime() - windowMs).length,
        blocks: inForce(at)
          .map(plain)
          .sort((a, b) => ((a.machineId ?? '*') < (b.machineId ?? '*') ? -1 : 1)),
        refused: refusals
          .filter((one) => one.at.getTime() > at.getTime() - 24 * 3_600_000)
          .map(({ known: _known, ...refused }) => copyRecord(refused))
          .reverse()
          .sort((a, b) => b.at.getTime() - a.at.getTime()),
      };
    },
  };
}
