import { api, bodyOf } from '../../../api/client';
import type { components } from '../../../api/schema.gen';

type Discarded = components['schemas']['WaitingDiscarded'];

export interface Step {
  kind: 'pause' | 'resume' | 'retry' | 'release' | 'discard' | 'discard-deferred';
  /** Of a discard; the server keeps it with the signals. */
  reason?: string;
}

/** Does a step whole, in as many requests as that takes. */
export function steer(watcher: string, { kind, reason = '' }: Step): Promise<unknown> {
  const params = { path: { watcher } };
  switch (kind) {
    case 'pause':
      return api.POST('/api/forwarding/{watcher}/pause', { params });
    case 'resume':
      return api.POST('/api/forwarding/{watcher}/resume', { params });
    case 'retry':
      return api.POST('/api/forwarding/{watcher}/retry', { params });
    case 'release':
      return whileLeft(() => bodyOf(api.POST('/api/forwarding/{watcher}/release', { params })));
    case 'discard':
    case 'discard-deferred': {
      const deferred = kind === 'discard-deferred';
      // What comes meanwhile was not asked about.
      return whileLeft<Discarded>((before) => {
        const body = { reason, deferred, ...(before && { receivedUntil: before.receivedUntil }) };
        return bodyOf(api.POST('/api/forwarding/{watcher}/discard', { params, body }));
      });
    }
  }
}

/** The server does so many at a time, and says whether there may be more. */
async function whileLeft<T extends { left: boolean }>(step: (before?: T) => Promise<T>): Promise<void> {
  let done = await step();
  while (done.left) done = await step(done);
}
