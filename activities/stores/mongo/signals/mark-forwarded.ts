import type { Collection } from 'mongodb';
import type { DeliveryState } from '../../../../schemas/signals/signals.js';
import type { AlertDocument } from './alert-document.js';
import type { createAlertMarks } from './alert-marks.js';
import { groupBySegments } from './alert-segments.js';

interface Sent {
  id: number;
  receivedAt: Date;
}

interface Request {
  sent: readonly Sent[];
  at: Date;
  resolve(): void;
  reject(error: unknown): void;
}

/** One update changes so many alerts at most: a longer one would hold up a push that waits for the same pages. */
const MAX_IDS = 500;

/** What CAPI took it has, also where an operator gave it up meanwhile. */
const UNDECIDED: { $in: DeliveryState[] } = { $in: ['waiting', 'discarded'] };

/**
 * waiting → forwarded, by id. Requests that come while a write is under way share the next one, so that a process has
 * one such write under way however many watchers it sends for: pushes go first, and they write the same collection.
 */
export function createForwardedMarker({
  alerts,
  marks,
}: {
  alerts: Collection<AlertDocument>;
  marks: ReturnType<typeof createAlertMarks>;
}): (ids: readonly number[], at: Date, receivedAt?: readonly Date[]) => Promise<void> {
  const requests: Request[] = [];
  let isWriting = false;

  /** From the front, as many as fit into one write; the first one always. */
  function takeShare(): Request[] {
    let ids = 0;
    const end = requests.findIndex((request, index) => {
      ids += request.sent.length;
      return index > 0 && ids > MAX_IDS;
    });
    return requests.splice(0, end === -1 ? requests.length : end);
  }

  async function write(share: readonly Request[]): Promise<void> {
    const at = new Date(Math.max(...share.map((request) => request.at.getTime())));
    const sent = share.flatMap((request) => request.sent);
    // What quiet watchers sent is spread over many segments.
    for (const group of groupBySegments(sent, ({ id }) => id)) {
      const ids = group.map(({ id }) => id);
      await marks.around({ ids, times: group.map(({ receivedAt }) => receivedAt) }, () =>
        alerts.updateMany(
          { _id: { $in: ids }, state: UNDECIDED },
          { $set: { state: 'forwarded', state_reason: null, forwarded: true, forwarded_at: at } },
        ),
      );
    }
  }

  async function serve(): Promise<void> {
    isWriting = true;
    while (requests.length > 0) {
      const share = takeShare();
      try {
        await write(share);
        for (const { resolve } of share) resolve();
      } catch (error) {
        for (const { reject } of share) reject(error);
      }
    }
    isWriting = false;
  }

  async function findTimes(ids: readonly number[]): Promise<Sent[]> {
    const sent = { _id: { $in: [...ids] }, state: UNDECIDED };
    const found = await alerts.find(sent, { projection: { received_at: 1 } }).toArray();
    return found.map(({ _id, received_at }) => ({ id: _id, receivedAt: received_at }));
  }

  return async (ids, at, known) => {
    // Without a time there is no alert to change, and a change that no mark announces would never be counted.
    const sent =
      known?.length === ids.length
        ? ids.map((id, index) => ({ id, receivedAt: known[index]! }))
        : await findTimes(ids);
    if (sent.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      requests.push({ sent, at, resolve, reject });
      if (!isWriting) void serve();
    });
  };
}
