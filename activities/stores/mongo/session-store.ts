import type { Db } from 'mongodb';
import type { SessionRecord, SessionStore } from '../../ports/sessions.js';
import { withMongoErrors } from './mongo-errors.js';

interface SessionDocument {
  /** SHA-256 of the cookie's value in hexadecimal. */
  _id: string;
  token_digest: string | null;
  key_digest: string | null;
  /** Of those that an identity provider opened. */
  identity?: { user_id: number; subject: string; sid: string | null };
  created_at: Date;
  /** The server removes it soon after. */
  expires_at: Date;
}

function toRecord(document: SessionDocument): SessionRecord {
  return {
    tokenDigest: document.token_digest,
    keyDigest: document.key_digest,
    ...(document.identity !== undefined && {
      identity: {
        userId: document.identity.user_id,
        subject: document.identity.subject,
        sid: document.identity.sid,
      },
    }),
    createdAt: document.created_at,
    expiresAt: document.expires_at,
  };
}

/**
 * Sessions in collection `sessions`. Cookies and tokens are random and long, so their plain digests are safe to keep:
 * what stands here does not sign in.
 */
export function createMongoSessionStore(db: Db): SessionStore {
  const sessions = db.collection<SessionDocument>('sessions');
  return withMongoErrors<SessionStore>({
    async insert(digest, { tokenDigest, identity, keyDigest, createdAt, expiresAt }) {
      await sessions.insertOne({
        _id: digest,
        token_digest: tokenDigest,
        key_digest: keyDigest,
        ...(identity !== undefined && {
          identity: { user_id: identity.userId, subject: identity.subject, sid: identity.sid },
        }),
        created_at: createdAt,
        expires_at: expiresAt,
      });
    },
    async find(digest, now) {
      // The server looks for ended ones once a minute.
      const document = await sessions.findOne({ _id: digest, expires_at: { $gt: now } });
      return document && toRecord(document);
    },
    async prolong(digest, expiresAt) {
      await sessions.updateOne({ _id: digest }, { $max: { expires_at: expiresAt } });
    },
    async remove(digest) {
      await sessions.deleteOne({ _id: digest });
    },
    async removeIdentity(of) {
      await sessions.deleteMany(
        'sid' in of ? { 'identity.sid': of.sid } : { 'identity.subject': of.subject },
      );
    },
  });
}
