import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Db } from 'mongodb';
import type { LoginBlock, LoginStore, RefusedLogin } from '../../../ports/logins.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';
import { createEncryption } from '../encryption.js';
import { sha256Hex } from '../../../../schemas/sha256.js';

interface BlockFields {
  status: number;
  message: string;
  at: Date;
  until: Date;
  /** For which password. */
  proof: string;
  /** It may be about our address: no login has succeeded since. */
  suspect: boolean;
  /** Another login succeeded while it was in force, so the block was about this password. */
  disproved?: true;
}

interface LoginDocument {
  /**
   * The `machine_id` of the login, `*` for what concerns all of them, or `*` and the name of a share; no machine is
   * called so.
   */
  _id: string;
  /** The last accepted login. */
  login?: {
    proof: string;
    watcher: string;
    box: string;
    digest: string;
    expires_at: Date;
    scenarios: string;
  };
  block?: BlockFields;
  /** An operator lets the next login pass until then, though the budget be used up. */
  exempt_until?: Date;
  /** `*`: when logins were passed on, the oldest first. */
  passed?: Date[];
  /** Of `REFUSED`: the last refusals, one of a machine, the latest last. */
  refused?: { machine_id: string; status: number; message: string; at: Date }[];
  /** Of a share: none of its places is taken after that. */
  idle_at?: Date;
}

const EVERYONE = '*';
/** Two records, of machines that CAPI let in before and of others. */
const REFUSED = { known: '*refused', unknown: '*refused strangers' } as const;
const MAX_REFUSED = 50;
const REFUSED_SHOWN_MS = 24 * 3_600_000;
const REFUSED_FOR_RATE = 429;
/** Of a place that was given back: out of every window. */
const NEVER = new Date(0);

/**
 * Logins in collection `logins`. A password is kept as an HMAC under a key derived from SECRETS_KEY: without that key
 * the digests tell nothing, and with it they are as good as the tokens beside them.
 * @param former keys that open tokens, and that passwords are compared by, as well
 * @throws AppError CONFIG_ERROR when the key is not 32 bytes long
 */
export function createMongoLoginStore(db: Db, secretsKey: Buffer, former: readonly Buffer[]): LoginStore {
  const logins = db.collection<LoginDocument>('logins');
  const box = createEncryption(secretsKey, former);
  const key = proofKey(secretsKey);
  const formerKeys = former.map(proofKey);
  const proofOf = (machineId: string, password: string): string => digestOf(key, machineId, password);
  /** Whether a stored proof is of this password, under whichever key it was made. */
  const isOf = (proof: string, machineId: string, password: string): boolean =>
    [key, ...formerKeys].some((each) => same(proof, digestOf(each, machineId, password)));

  const upsert = async (id: string, change: object): Promise<void> => {
    const write = () => logins.updateOne({ _id: id }, change, { upsert: true });
    try {
      await write();
    } catch (error) {
      // Another one made it at the same moment.
      if (!isDuplicateKey(error)) throw error;
      await write();
    }
  };

  /**
   * Whether a 403 may be about our address. Not the one of a password that has been refused for itself before, and
   * none of a password that CAPI never took: any client can make up two of those.
   */
  const suspicionOf = (
    own: LoginDocument | null,
    machineId: string,
    password: string,
  ): Pick<BlockFields, 'suspect' | 'disproved'> => {
    if (own?.block?.disproved === true && isOf(own.block.proof, machineId, password))
      return { suspect: false, disproved: true };
    return { suspect: own?.login !== undefined && isOf(own.login.proof, machineId, password) };
  };

  /**
   * Whether the block of a machine that CAPI let in before stays: it is in force for another password, and this one
   * was never taken. Who knows the name of a machine can log in as it with any password.
   */
  const isKept = ({ _id, login, block }: LoginDocument, password: string, at: Date): boolean => {
    if (login === undefined || block === undefined || block.until <= at) return false;
    return !isOf(block.proof, _id, password) && !isOf(login.proof, _id, password);
  };

  /** Takes a place of `most` in the window; when they are used up, answers when the next is free. */
  const take = async (id: string, at: Date, most: number, windowMs: number): Promise<Date | null> => {
    await upsert(id, { $pull: { passed: { $lte: new Date(at.getTime() - windowMs) } } });
    // The place of the last one allowed is still empty: one update decides, however many ask.
    const { matchedCount } = await logins.updateOne(
      { _id: id, [`passed.${most - 1}`]: { $exists: false } },
      {
        $push: { passed: at },
        ...(id === EVERYONE ? {} : { $set: { idle_at: new Date(at.getTime() + windowMs) } }),
      },
    );
    if (matchedCount === 1) return null;
    const passed = (await logins.findOne({ _id: id }))?.passed ?? [];
    const oldest = passed.find((time) => time.getTime() > at.getTime() - windowMs) ?? at;
    return new Date(oldest.getTime() + windowMs);
  };

  /** Places of the same millisecond look alike, so one of them is first told from the others. */
  const giveBack = async (id: string, at: Date): Promise<void> => {
    await logins.updateOne({ _id: id, passed: at }, { $set: { 'passed.$': NEVER } });
    await logins.updateOne({ _id: id }, { $pull: { passed: NEVER } });
  };

  return withMongoErrors<LoginStore>({
    async remember(machineId, password, { watcher, token, expiresAt, scenarios }, at) {
      const login = {
        proof: proofOf(machineId, password),
        watcher,
        scenarios,
        expires_at: expiresAt,
        box: box.seal(token, machineId),
        digest: sha256Hex(token),
      };
      await upsert(machineId, { $set: { login }, $unset: { block: '', exempt_until: '' } });
      await logins.updateOne({ _id: EVERYONE }, { $unset: { block: '' } });
      await logins.updateMany(
        { _id: { $in: Object.values(REFUSED) }, 'refused.machine_id': machineId },
        { $pull: { refused: { machine_id: machineId } } },
      );
      // Our address is let in: what others are refused for now is their own. Of what is over that tells nothing.
      await logins.updateMany(
        { 'block.suspect': true, 'block.until': { $gt: at } },
        { $set: { 'block.suspect': false, 'block.disproved': true } },
      );
    },
    async recall(machineId, password) {
      const login = (await logins.findOne({ _id: machineId }))?.login;
      if (login === undefined || !isOf(login.proof, machineId, password)) return null;
      const { watcher, digest, scenarios, expires_at: expiresAt } = login;
      return { watcher, token: box.open(login.box, machineId), digest, expiresAt, scenarios };
    },
    reserve: (at, { logins: most, windowMs }) => take(EVERYONE, at, most, windowMs),
    async reserveShare(share, at, { logins: most, windowMs }) {
      const free = await take(`${EVERYONE}${share}`, at, most, windowMs);
      // Addresses come and go; what has been idle for a window counts nothing.
      if (free === null) await logins.deleteMany({ _id: { $gt: EVERYONE, $lt: '+' }, idle_at: { $lte: at } });
      return free;
    },
    release: (at) => giveBack(EVERYONE, at),
    releaseShare: (share, at) => giveBack(`${EVERYONE}${share}`, at),
    async wasTaken(machineId, password) {
      const login = (await logins.findOne({ _id: machineId }))?.login;
      return login !== undefined && isOf(login.proof, machineId, password);
    },
    async block(machineId, password, block) {
      const proof = proofOf(machineId, password);
      const everyones = block.status === REFUSED_FOR_RATE;
      if (everyones) {
        await upsert(EVERYONE, { $set: { block: { ...block, proof, suspect: false } } });
        return;
      }
      const own = await logins.findOne({ _id: machineId });
      if (own !== null && isKept(own, password, block.at)) return;
      const change = { $set: { block: { ...block, proof, ...suspicionOf(own, machineId, password) } } };
      await upsert(machineId, change);
    },
    async blockOf(machineId, password, at) {
      const inForce = { 'block.until': { $gt: at } };
      const documents = await logins.find({ _id: { $in: [machineId, EVERYONE] }, ...inForce }).toArray();
      const ofAll = documents.find(({ _id }) => _id === EVERYONE)?.block;
      if (ofAll !== undefined) return toBlock(null, ofAll);
      const own = documents.find(({ _id }) => _id === machineId)?.block;
      if (own !== undefined && isOf(own.proof, machineId, password)) return toBlock(machineId, own);
      const suspects = await logins
        .find({ ...inForce, 'block.suspect': true })
        .sort({ 'block.until': 1 })
        .limit(2)
        .toArray();
      return suspects.length < 2 ? null : toBlock(null, suspects[0]!.block!);
    },
    async noteRefused({ machineId, ...refusal }, known) {
      const _id = known ? REFUSED.known : REFUSED.unknown;
      await logins.updateOne({ _id }, { $pull: { refused: { machine_id: machineId } } });
      await upsert(_id, {
        $push: { refused: { $each: [{ machine_id: machineId, ...refusal }], $slice: -MAX_REFUSED } },
      });
    },
    async unblock(machineId, until) {
      await logins.updateMany({ _id: { $in: [machineId, EVERYONE] } }, { $unset: { block: '' } });
      await logins.updateMany({ 'block.suspect': true }, { $set: { 'block.suspect': false } });
      await upsert(machineId, { $set: { exempt_until: until } });
    },
    async takeExemption(machineId, at) {
      const before = await logins.findOneAndUpdate(
        { _id: machineId, exempt_until: { $gt: at } },
        { $unset: { exempt_until: '' } },
        { returnDocument: 'before' },
      );
      return before?.exempt_until ?? null;
    },
    async returnExemption(machineId, until) {
      // One that an operator has given meanwhile lasts longer.
      await logins.updateOne(
        { _id: machineId, exempt_until: { $exists: false } },
        { $set: { exempt_until: until } },
      );
    },
    async overview(at, windowMs) {
      const [everyone, refused, blocked] = await Promise.all([
        logins.findOne({ _id: EVERYONE }),
        logins.find({ _id: { $in: Object.values(REFUSED) } }).toArray(),
        logins
          .find({ 'block.until': { $gt: at } })
          .sort({ _id: 1 })
          .limit(1000)
          .toArray(),
      ]);
      const since = at.getTime() - windowMs;
      return {
        used: (everyone?.passed ?? []).filter((passed) => passed.getTime() > since).length,
        blocks: blocked.map(({ _id, block }) => toBlock(_id === EVERYONE ? null : _id, block!)),
        refused: refused
          .flatMap((document) => document.refused ?? [])
          .filter((one) => one.at.getTime() > at.getTime() - REFUSED_SHOWN_MS)
          .map(({ machine_id: machineId, ...refusal }): RefusedLogin => ({ machineId, ...refusal }))
          .reverse()
          .sort((a, b) => b.at.getTime() - a.at.getTime()),
      };
    },
  });
}

function toBlock(machineId: string | null, { status, message, at, until }: BlockFields): LoginBlock {
  return {
    machineId,
    status,
    message,
    at,
    until,
  };
}

function proofKey(secretsKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', 'tamis login proof v1', 32));
}

function digestOf(key: Buffer, machineId: string, password: string): string {
  return createHmac('sha256', key).update(`${machineId}\0${password}`).digest('base64url');
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
