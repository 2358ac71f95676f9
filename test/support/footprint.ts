import { MongoClient } from 'mongodb';
import type { RunningStack } from './running-stack.js';

/** Drawn from even for an upload that is refused in the end; nothing else may change by one. */
const COUNTERS = 'counters';

/**
 * How much is in the stores, raw: documents per collection (also half-written bytes, which no port shows) and chunks.
 * Equal before and after a request, that request left nothing.
 */
export async function footprint(
  stack: Pick<RunningStack, 'config' | 'adapters'>,
): Promise<Record<string, number>> {
  const { url, database } = stack.config.mongodb;
  const mongo = new MongoClient(url);
  try {
    const db = mongo.db(database);
    const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    const counts: Record<string, number> = {};
    const counted = names.filter((one) => one !== COUNTERS).sort();
    const found = await Promise.all(counted.map((name) => db.collection(name).countDocuments()));
    for (const [index, name] of counted.entries())
      // A collection comes into being with its first document, so an empty one is as good as none.
      if (found[index]! > 0) counts[name] = found[index]!;
    counts['chunks'] = 0;
    for await (const group of stack.adapters.chunks.scanGenerations()) counts['chunks'] += group.chunks;
    return counts;
  } finally {
    await mongo.close();
  }
}
