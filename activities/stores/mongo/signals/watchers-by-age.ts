import type { Collection } from 'mongodb';

/**
 * Watchers with something in this state that was received before then: who waits the longest comes first; without so
 * many from the front.
 */
export async function watchersByAge(
  collection: Pick<Collection, 'aggregate'>,
  {
    state,
    before,
    limit,
    offset = 0,
  }: { state: string; before: Date; limit: number; offset?: number | undefined },
): Promise<string[]> {
  const groups = await collection
    .aggregate<{ _id: string }>([
      { $match: { state, received_at: { $lt: before } } },
      { $group: { _id: '$watcher', oldest: { $min: '$received_at' } } },
      { $sort: { oldest: 1, _id: 1 } },
      { $limit: offset + limit },
    ])
    .toArray();
  return groups.slice(offset).map(({ _id }) => _id);
}
