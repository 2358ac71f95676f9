import type { SessionRecord, SessionStore } from '../../../activities/ports/sessions.js';
import { copyRecord } from './copy-record.js';

/** Sessions in a Map. */
export function createFakeSessionStore(): SessionStore {
  const sessions = new Map<string, SessionRecord>();
  return {
    async insert(digest, session) {
      sessions.set(digest, copyRecord(session));
    },
    async find(digest, now) {
      const session = sessions.get(digest);
      return session !== undefined && session.expiresAt > now ? copyRecord(session) : null;
    },
    async prolong(digest, expiresAt) {
      const session = sessions.get(digest);
      if (session !== undefined && session.expiresAt < expiresAt) session.expiresAt = expiresAt;
    },
    async remove(digest) {
      sessions.delete(digest);
    },
    async removeIdentity(of) {
      for (const [digest, { identity }] of sessions)
        if ('sid' in of ? identity?.sid === of.sid : identity?.subject === of.subject)
          sessions.delete(digest);
    },
  };
}
