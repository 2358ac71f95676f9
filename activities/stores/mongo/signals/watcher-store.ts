import type { Db, Filter, UpdateFilter } from 'mongodb';
import { LOGIN_REMINDER_MS, OUTAGE_CAUSES } from '../../../../schemas/signals/signals.js';
import type { WatcherRecord } from '../../../../schemas/signals/signals.js';
import type { WatcherStore } from '../../../ports/signals.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';
import { createEncryption } from '../encryption.js';
import { sha256Hex } from '../../../../schemas/sha256.js';

/** A watcher as collection `watchers` keeps it. Only records of unknown watchers are deleted. */
interface WatcherDocument {
  /** The watcher's name. */
  _id: string;
  /** The newest token. */
  token: {
    digest: string;
    box: string;
    expires_at: Date | null;
    updated_at: Date;
    /** CAPI took it. */
    taken?: boolean;
  } | null;
  /** Digests of the tokens seen with this watcher, the newest last. */
  history: string[];
  /** Digests of those that CAPI refused. */
  refused: string[];
  /** Digests of those that CAPI took; missing in records of before. */
  accepted?: string[];
  login_wanted: boolean;
  /** When the watcher was last told; missing in records of before. */
  login_told_at?: Date | null;
  last_success_at: Date | null;
  last_error: WatcherRecord['lastError'];
  next_attempt_at: Date | null;
  /** Missing in records of before. */
  paused_at?: Date | null;
  /**
   * CAPI never took a token of it: where it came from, since when, and until when its record is kept. Without an
   * address it has no place yet: forwarding made the record.
   */
  stranger?: { address: string; since: Date; until: Date };
}

/** A LAPI logs in about once an hour; what has fallen out of these lists expired long ago. */
const HISTORY_LENGTH = 100;
const REFUSED_LENGTH = 200;
const ACCEPTED_LENGTH = 20;

function newWatcher(): Omit<WatcherDocument, '_id'> {
  return {
    token: null,
    history: [],
    refused: [],
    login_wanted: false,
    login_told_at: null,
    last_success_at: null,
    last_error: null,
    next_attempt_at: null,
    paused_at: null,
  };
}

function toRecord(document: WatcherDocument): WatcherRecord {
  return {
    watcher: document._id,
    hasToken: document.token !== null,
    tokenExpiresAt: document.token?.expires_at ?? null,
    tokenUpdatedAt: document.token?.updated_at ?? null,
    loginWanted: document.login_wanted,
    lastSuccessAt: document.last_success_at,
    lastError: document.last_error,
    nextAttemptAt: document.next_attempt_at,
    pausedAt: document.paused_at ?? null,
  };
}

function neverSeen(digest: string) {
  return { history: { $ne: digest } };
}

/** The watchers whose newest token such a one replaces. */
function replaceableBy({
  digest,
  expiresAt,
  taken,
}: {
  digest: string;
  expiresAt: Date | null;
  taken: boolean;
}): Filter<WatcherDocument> {
  const orUntaken = taken ? [{ 'token.taken': { $ne: true } }] : [];
  return {
    refused: { $ne: digest },
    'token.digest': { $ne: digest },
    ...(taken ? {} : { 'token.taken': { $ne: true } }),
    // By expiry where both have one, else by arrival: what was seen before is older than what replaced it.
    $or:
      expiresAt === null
        ? [{ token: null }, ...orUntaken, neverSeen(digest)]
        : [
            { token: null },
            ...orUntaken,
            { 'token.expires_at': { $lt: expiresAt } },
            { 'token.expires_at': { $in: [null, expiresAt] }, ...neverSeen(digest) },
          ],
  };
}

function endOf({ at, lifetimeMs }: { at: Date; lifetimeMs: number }): Date {
  return new Date(at.getTime() + lifetimeMs);
}

/** The share of its time that an unknown watcher has left when a push gives it all of it again. */
const PROLONGED_BELOW = 0.98;
/** A record that forwarding makes is kept for so long, unless the watcher comes again. */
const WITHOUT_PLACE_MS = 72 * 3_600_000;

/**
 * Watchers in collection `watchers`: the newest token, sealed with SECRETS_KEY, digests of older and refused ones,
 * and how the forwarding goes. Tokens of different watchers never mix: a box opens for its own watcher only.
 * @param former keys that open tokens as well
 * @throws AppError CONFIG_ERROR when the key is not 32 bytes long
 */
export function createMongoWatcherStore(
  db: Db,
  secretsKey: Buffer,
  former: readonly Buffer[] = [],
): WatcherStore {
  const watchers = db.collection<WatcherDocument>('watchers');
  const box = createEncryption(secretsKey, former);

  const ensure = async (watcher: string, stranger?: WatcherDocument['stranger']): Promise<void> => {
    const made = { ...newWatcher(), ...(stranger !== undefined && { stranger }) };
    try {
      await watchers.updateOne({ _id: watcher }, { $setOnInsert: made }, { upsert: true });
    } catch (error) {
      // Another one made it at the same moment.
      if (!isDuplicateKey(error)) throw error;
    }
  };

  /** Of a watcher without a record nothing is known: it was removed, or the store was away while it pushed. */
  const ensureUnknown = (watcher: string): Promise<void> => {
    const since = new Date();
    return ensure(watcher, { address: '', since, until: new Date(since.getTime() + WITHOUT_PLACE_MS) });
  };

  const update = async (watcher: string, change: UpdateFilter<WatcherDocument>): Promise<void> => {
    const { matchedCount } = await watchers.updateOne({ _id: watcher }, change);
    if (matchedCount === 1) return;
    await ensureUnknown(watcher);
    await watchers.updateOne({ _id: watcher }, change);
  };

  const remember = (digest: string) => ({ history: { $each: [digest], $slice: -HISTORY_LENGTH } });

  const wantLogin = async (watcher: string): Promise<void> => {
    await ensureUnknown(watcher);
    const known = await watchers.findOne({ _id: watcher }, { projection: { token: 1, refused: 1 } });
    const digest = known?.token?.digest;
    // A newer token makes a login needless; without any the queue would stand still.
    if (digest !== undefined && !known!.refused.includes(digest)) return;
    await watchers.updateOne(
      { _id: watcher, ...(digest === undefined ? { token: null } : { 'token.digest': digest }) },
      { $set: { token: null, login_wanted: true } },
    );
  };

  /** Who has the places of an address. */
  const unknownOf = (address: string, places: number) =>
    watchers
      .find({ 'stranger.address': address }, { projection: { 'stranger.until': 1 } })
      .sort({ 'stranger.since': 1, _id: 1 })
      .limit(places)
      .toArray();

  const freeAt = (places: Awaited<ReturnType<typeof unknownOf>>): Date =>
    new Date(Math.min(...places.map(({ stranger }) => stranger!.until.getTime())));

  const prolong = async (watcher: string, until: Date): Promise<boolean> => {
    const own = { _id: watcher, stranger: { $exists: true } };
    const { matchedCount } = await watchers.updateOne(own, { $set: { 'stranger.until': until } });
    return matchedCount === 1;
  };

  const admit: WatcherStore['admit'] = async (watcher, place) => {
    const { at, places, lifetimeMs } = place;
    const known = await watchers.findOne({ _id: watcher }, { projection: { stranger: 1 } });
    if (known === null) return admitNew(watcher, place);
    const { stranger } = known;
    if (stranger === undefined) return 'known';
    if (stranger.address === '') {
      const before = await unknownOf(place.address, places);
      if (before.length >= places) return freeAt(before);
      const own = { _id: watcher, 'stranger.address': '' };
      const placed = { address: place.address, since: at, until: endOf(place) };
      await watchers.updateOne(own, { $set: { stranger: placed } });
      // Several may have come for the last place.
      return admit(watcher, place);
    }
    const having = await unknownOf(stranger.address, places);
    if (!having.some(({ _id }) => _id === watcher)) {
      const now = await watchers.findOne({ _id: watcher }, { projection: { stranger: 1 } });
      const isStill = now?.stranger?.since.getTime() === stranger.since.getTime();
      // Otherwise let in or removed between the two reads, and no longer one of those who share the places.
      return isStill ? freeAt(having) : admit(watcher, place);
    }
    // A write for each of its pushes would be one too many.
    if (stranger.until.getTime() - at.getTime() > lifetimeMs * PROLONGED_BELOW) return 'unknown';
    // Otherwise let in meanwhile, or removed.
    return (await prolong(watcher, endOf(place))) ? 'unknown' : admit(watcher, place);
  };

  const admitNew: WatcherStore['admit'] = async (watcher, place) => {
    const { address, at, places } = place;
    const before = await unknownOf(address, places);
    if (before.length >= places) return freeAt(before);
    const stranger = { address, since: at, until: endOf(place) };
    try {
      await watchers.insertOne({ _id: watcher, ...newWatcher(), stranger });
    } catch (error) {
      // Another one made it at the same moment.
      if (!isDuplicateKey(error)) throw error;
      return admit(watcher, place);
    }
    const having = await unknownOf(address, places);
    if (having.some(({ _id }) => _id === watcher)) return 'unknown';
    // Several came for the last place.
    const own = { _id: watcher, token: null, 'stranger.since': at };
    const { deletedCount } = await watchers.deleteOne(own);
    return deletedCount === 1 ? freeAt(having) : admit(watcher, place);
  };

  return withMongoErrors<WatcherStore>({
    admit,
    async expiredUnknownWatchers(at, limit) {
      const found = await watchers
        .find({ 'stranger.until': { $lte: at }, paused_at: null }, { projection: { refused: 1, token: 1 } })
        .sort({ 'stranger.until': 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, token, refused }) => ({
        watcher: _id,
        refused: refused.length > 0 && (token === null || refused.includes(token.digest)),
      }));
    },
    async removeUnknownWatcher(watcher, at) {
      await watchers.deleteOne({ _id: watcher, 'stranger.until': { $lte: at } });
    },
    async prolongUnknownWatcher(watcher, until) {
      await prolong(watcher, until);
    },
    async get(watcher) {
      const document = await watchers.findOne({ _id: watcher });
      return document && toRecord(document);
    },
    async list() {
      return (await watchers.find().sort({ _id: 1 }).toArray()).map(toRecord);
    },
    async saveToken(watcher, token, expiresAt, newcomer) {
      const digest = sha256Hex(token);
      const known = await watchers.findOne({ _id: watcher });
      const old = { newer: false, loginWanted: known?.login_wanted === true };
      if (known === null)
        await ensure(
          watcher,
          newcomer && { address: newcomer.address, since: newcomer.at, until: endOf(newcomer) },
        );
      // The common case, a batch with the token we have: nothing to write.
      else if (known.token?.digest === digest || known.refused.includes(digest)) return old;
      const taken = known?.accepted?.includes(digest) === true;
      if (!taken && known?.token?.taken === true) return old;
      const { matchedCount } = await watchers.updateOne(
        { _id: watcher, ...replaceableBy({ digest, expiresAt, taken }) },
        {
          $set: {
            token: {
              digest,
              box: box.seal(token, watcher),
              expires_at: expiresAt,
              updated_at: new Date(),
              taken,
            },
            // It has logged in: to ask for it again would only cost a login.
            login_wanted: false,
            login_told_at: null,
          },
          $push: remember(digest),
        },
      );
      if (matchedCount === 1) return { newer: true, loginWanted: false };
      // Too old to send with, but it still tells whose requests it comes with.
      await watchers.updateOne({ _id: watcher, ...neverSeen(digest) }, { $push: remember(digest) });
      return old;
    },
    async token(watcher) {
      const document = await watchers.findOne({ _id: watcher });
      if (document === null || document.token === null) return null;
      const { digest, box: sealed } = document.token;
      return document.refused.includes(digest) ? null : { token: box.open(sealed, watcher), digest };
    },
    async acceptToken(watcher, digest) {
      // Told again and again of the same token; a write that changes nothing still waits for the journal.
      const known = await watchers.findOne(
        { _id: watcher },
        { projection: { token: 1, accepted: 1, stranger: 1 } },
      );
      if (known === null) await ensure(watcher);
      if (known?.accepted?.includes(digest) !== true)
        await watchers.updateOne(
          { _id: watcher, refused: { $ne: digest }, accepted: { $ne: digest } },
          { $push: { accepted: { $each: [digest], $slice: -ACCEPTED_LENGTH } } },
        );
      if (known?.stranger !== undefined)
        await watchers.updateOne({ _id: watcher }, { $unset: { stranger: '' } });
      if (known?.token?.digest !== digest || known.token.taken !== true)
        await watchers.updateOne(
          { _id: watcher, refused: { $ne: digest }, 'token.digest': digest },
          { $set: { 'token.taken': true } },
        );
    },
    async standing(watcher, digest) {
      const document = await watchers.findOne({ _id: watcher }, { projection: { refused: 1, accepted: 1 } });
      if (document?.refused.includes(digest) === true) return 'refused';
      return document?.accepted?.includes(digest) === true ? 'accepted' : 'unknown';
    },
    async refuseToken(watcher, digest) {
      await ensureUnknown(watcher);
      // In this order: once it is on the list it cannot come back, so that clearing it is final.
      await watchers.updateOne(
        { _id: watcher, refused: { $ne: digest } },
        { $push: { refused: { $each: [digest], $slice: -REFUSED_LENGTH } } },
      );
      await wantLogin(watcher);
    },
    wantLogin,
    async takeLoginWanted(watcher, now) {
      // Asked with every push, and hardly ever so: a write that finds nothing still waits for the journal.
      const wanted = await watchers.findOne({ _id: watcher, login_wanted: true }, { projection: { _id: 1 } });
      if (wanted === null) return false;
      const { matchedCount } = await watchers.updateOne(
        {
          _id: watcher,
          login_wanted: true,
          $or: [
            { login_told_at: null },
            { login_told_at: { $lte: new Date(now.getTime() - LOGIN_REMINDER_MS) } },
          ],
        },
        { $set: { login_told_at: now } },
      );
      return matchedCount === 1;
    },
    async watcherOfToken(digest) {
      const document = await watchers.findOne({ history: digest }, { projection: { _id: 1 } });
      return document?._id ?? null;
    },
    async setPaused(watcher, at) {
      await ensure(watcher);
      await watchers.updateOne(
        at === null ? { _id: watcher } : { _id: watcher, paused_at: null },
        { $set: { paused_at: at } },
        { writeConcern: { w: 'majority', journal: true } },
      );
    },
    recordSuccess: (watcher, at) =>
      update(watcher, {
        $max: { last_success_at: at },
        $set: { next_attempt_at: null },
        $unset: { stranger: '' },
      }),
    recordError: (watcher, error, nextAttemptAt) =>
      update(watcher, { $set: { last_error: error, next_attempt_at: nextAttemptAt } }),
    async heldByOutage(until, limit) {
      const held = { next_attempt_at: { $gt: until }, 'last_error.cause': { $in: [...OUTAGE_CAUSES] } };
      // Hardly ever is one: only then it matters when CAPI last took something.
      const found = await watchers
        .find(held, { projection: { 'last_error.at': 1 } })
        .limit(limit)
        .toArray();
      if (found.length === 0) return [];
      const [newest] = await watchers
        .find({}, { projection: { last_success_at: 1 } })
        .sort({ last_success_at: -1 })
        .limit(1)
        .toArray();
      const success = newest?.last_success_at ?? null;
      if (success === null) return [];
      return found.flatMap(({ _id, last_error }) => (last_error!.at < success ? [_id] : []));
    },
  });
}
