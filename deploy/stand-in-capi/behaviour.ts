/** What the stand-in does with a push of signals instead of taking it. */
export type Fault =
  /** Answers so, without taking the batch. */
  | { kind: 'status'; status: number; retryAfter?: string | number; message?: string }
  /** 401 for every token given out so far; a login gives a good one. */
  | { kind: 'unauthorized' }
  /** 400 for a batch in which an item's text holds the marker. */
  | { kind: 'marked-items'; marker: string; status?: number }
  /** 413 for a body above the size. */
  | { kind: 'too-large'; maxBytes: number }
  /** Neither takes it nor answers. */
  | { kind: 'hang' }
  /** Neither takes it nor answers, but closes the connection. */
  | { kind: 'close-untaken' }
  /** Takes it and answers 200 after so long; when the sender has gone by then, no answer leaves. */
  | { kind: 'slow'; delayMs: number }
  /** Takes it and closes the connection before the answer: the sender cannot know. */
  | { kind: 'close-unanswered' }
  /** Takes it and closes the connection right after the 2xx status line. */
  | { kind: 'close-after-status' };

export type Behaviour = Fault & {
  /** For so many pushes; unset: until changed. */
  times?: number;
  /** For this watcher only. */
  watcher?: string;
};

export interface Push {
  watcher: string;
  /** When its token was issued, in milliseconds since 1970. */
  tokenIssuedAt: number;
  bytes: number;
  /** Each item's JSON text. */
  items: readonly string[];
}

/**
 * The faults in force, in order: the first that applies to a push is what it meets, and when it was meant for a number
 * of pushes, that number goes down. None applies: the push is taken.
 */
export function createBehaviours() {
  let list: (Behaviour & { since: number })[] = [];
  let refusedUpTo = 0;

  const applies = (behaviour: Behaviour & { since: number }, push: Push): boolean => {
    if (behaviour.watcher !== undefined && behaviour.watcher !== push.watcher) return false;
    if (behaviour.times !== undefined && behaviour.times <= 0) return false;
    switch (behaviour.kind) {
      case 'unauthorized':
        return push.tokenIssuedAt <= behaviour.since;
      case 'marked-items':
        return push.items.some((item) => item.includes(behaviour.marker));
      case 'too-large':
        return push.bytes > behaviour.maxBytes;
      default:
        return true;
    }
  };

  return {
    /** Replaces what is in force. */
    set(behaviours: readonly Behaviour[]): void {
      refusedUpTo = Math.max(Date.now(), refusedUpTo);
      list = behaviours.map((behaviour) => ({ ...behaviour, since: refusedUpTo }));
    },
    get: (): Behaviour[] => list.map(({ since: _since, ...behaviour }) => behaviour),
    next(push: Push): Fault | null {
      const met = list.find((behaviour) => applies(behaviour, push));
      if (met?.times !== undefined) met.times -= 1;
      return met ?? null;
    },
    /** A token issued now is newer than all that were refused, also within the same millisecond. */
    issueTime: (): number => Math.max(Date.now(), refusedUpTo + 1),
  };
}

export type Behaviours = ReturnType<typeof createBehaviours>;
