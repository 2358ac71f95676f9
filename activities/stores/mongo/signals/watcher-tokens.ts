import type { Collection, Filter } from 'mongodb';
import { sha256Hex } from '../../../../schemas/sha256.js';
import { LOGIN_REMINDER_MS } from '../../../../schemas/signals/signals.js';
import type { WatcherStore } from '../../../ports/signals.js';
import type { Encryption } from '../encryption.js';
import { endOf } from './unknown-watchers.js';
import type { WatcherDocument } from './watcher-document.js';
import type { WatcherRecords } from './watcher-records.js';

/** A LAPI logs in about once an hour; what has fallen out of these lists expired long ago. */
const HISTORY_LENGTH = 100;
const REFUSED_LENGTH = 200;
const ACCEPTED_LENGTH = 20;

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

/** The newest token of each watcher, what CAPI said of it and of older ones, and whether a login is wanted. */
export function createWatcherTokens(
  watchers: Collection<WatcherDocument>,
  box: Encryption,
  { ensure, ensureUnknown }: WatcherRecords,
): Pick<
  WatcherStore,
  | 'saveToken'
  | 'token'
  | 'acceptToken'
  | 'standing'
  | 'refuseToken'
  | 'wantLogin'
  | 'takeLoginWanted'
  | 'watcherOfToken'
> {
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

  return {
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
  };
}
