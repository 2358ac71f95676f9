/** More would be about as many shards as there are; and an address has a greatest length. */
const MAX_ROUTED = 32;

/**
 * The shards in which the chunks of some partitions are: each partition is in one, told by its name, whose signs leave
 * out the comma that stands between several. An index with one shard knows no difference.
 * @param partitions null: all
 */
export function routingOf(partitions: readonly string[] | null): { routing?: string } {
  if (partitions === null || partitions.length === 0 || partitions.length > MAX_ROUTED) return {};
  return { routing: partitions.join(',') };
}
