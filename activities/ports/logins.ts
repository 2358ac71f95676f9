/** What the proxy keeps of logins; see `adapters.ts` for the rules that hold for all ports. */

/** A login of a LAPI that CAPI accepted, as far as it may be given out again. */
export interface RememberedLogin {
  watcher: string;
  token: string;
  digest: string;
  expiresAt: Date;
  /** Digest of the scenarios that it announced. */
  scenarios: string;
}

/** Why logins are not passed on for a while. */
export interface LoginBlock {
  /** Null: of every watcher. */
  machineId: string | null;
  status: number;
  message: string;
  at: Date;
  until: Date;
}

/** A login that was refused, by CAPI or here, and whose machine has not been let in since. */
export interface RefusedLogin {
  machineId: string;
  status: number;
  message: string;
  at: Date;
}

/** Logins that pass by. Passwords are kept as keyed digests only, tokens sealed. */
export interface LoginStore {
  /** Keeps a login that CAPI accepted, lifts the blocks that it disproves, and ends an exemption of the machine. */
  remember(
    machineId: string,
    password: string,
    login: Omit<RememberedLogin, 'digest'>,
    at: Date,
  ): Promise<void>;
  /** The last accepted login with this very password; null when there is none. */
  recall(machineId: string, password: string): Promise<RememberedLogin | null>;
  /** Takes one of so many logins in a window; when they are used up, answers when the next is free. */
  reserve(at: Date, budget: { logins: number; windowMs: number }): Promise<Date | null>;
  /**
   * Takes one of so many places of a share of the budget, such as the one of an address; when they are used up, answers
   * when the next is free.
   */
  reserveShare(share: string, at: Date, budget: { logins: number; windowMs: number }): Promise<Date | null>;
  /** Gives back one place that was taken then, of several of the same moment one. */
  release(at: Date): Promise<void>;
  /** Likewise of a share. */
  releaseShare(share: string, at: Date): Promise<void>;
  /** Whether CAPI ever took this password, though its token may have ended. */
  wasTaken(machineId: string, password: string): Promise<boolean>;
  /**
   * CAPI refused this login: 429 is about our address, 403 may be about this password or about our address. It is about
   * the password where it was that before, and where CAPI never took it: any client can make up two of those.
   */
  block(machineId: string, password: string, block: Omit<LoginBlock, 'machineId'>): Promise<void>;
  /**
   * What stands in the way of a login: a 429, a 403 for this very password, or 403s for two watchers and more, which
   * are then about our address.
   */
  blockOf(machineId: string, password: string, at: Date): Promise<LoginBlock | null>;
  /**
   * Notes that a login was refused, the last one of each machine. So many machines are kept, the latest, those that
   * CAPI let in before apart from others: made-up names displace none of theirs.
   */
  noteRefused(refused: RefusedLogin, known: boolean): Promise<void>;
  /** An operator's word: lifts blocks, and exempts the machine's next login before `until` from the budget. */
  unblock(machineId: string, until: Date): Promise<void>;
  /** Until when the machine is exempt; null when it is not. What is taken holds for one login. */
  takeExemption(machineId: string, at: Date): Promise<Date | null>;
  /** The login that took the exemption never reached CAPI: it holds for the next one. */
  returnExemption(machineId: string, until: Date): Promise<void>;
  /**
   * For the management side: the blocks in force, the logins in the window, and the refused ones of the last day, the
   * latest first.
   */
  overview(
    at: Date,
    windowMs: number,
  ): Promise<{ used: number; blocks: LoginBlock[]; refused: RefusedLogin[] }>;
}
