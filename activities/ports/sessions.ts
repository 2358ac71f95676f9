/** Sessions of people who signed in with a browser; see `adapters.ts` for the rules that hold for all ports. */

/** Who signed in at an identity provider, so that the provider can end the session. */
export interface SessionIdentity {
  userId: number;
  subject: string;
  /** The session there, where the provider tells it. */
  sid: string | null;
}

/** Whom a session stands for. Nothing in it lets anyone in by itself: the secrets are kept as digests. */
export interface SessionRecord {
  /** Hexadecimal SHA-256 of the user token it was opened with; null: it stands for no user. */
  tokenDigest: string | null;
  /** Left out: it was not opened by an identity provider. */
  identity?: SessionIdentity | undefined;
  /** The same of a key of the management side. */
  keyDigest: string | null;
  createdAt: Date;
  /** It moves on with use. */
  expiresAt: Date;
}

/** By the hexadecimal SHA-256 of the cookie's value. */
export interface SessionStore {
  insert(digest: string, session: SessionRecord): Promise<void>;
  /** Null for one that has ended, by whatever. */
  find(digest: string, now: Date): Promise<SessionRecord | null>;
  /** Moves the end of a session that is there; never back. */
  prolong(digest: string, expiresAt: Date): Promise<void>;
  /** Nothing happens when there is none. */
  remove(digest: string): Promise<void>;
  /** Those of a session at the identity provider, or all of a subject. */
  removeIdentity(of: { sid: string } | { subject: string }): Promise<void>;
}
