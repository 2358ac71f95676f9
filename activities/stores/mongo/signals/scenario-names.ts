import type { Collection, Db } from 'mongodb';
import type { AlertDocument } from './alert-document.js';
import { countersOf, increaseCounter, DURABLE } from '../counters.js';
import { isDeadlock, isDuplicateKey } from '../mongo-errors.js';
import { createDeadlockQueue } from '../retry-deadlocks.js';
import { sha256Hex } from '../../../../schemas/sha256.js';

/** A scenario that stored alerts have, in lower case; collection `alert_scenarios`. */
interface ScenarioDocument {
  /** SHA-256 of the name: names may be longer than what a server takes for a key. */
  _id: string;
  folded: string;
  /** The last day (UTC) on which an alert of it was stored. */
  day: string;
}

const BUILT = 'scenario-names';
const MAX_KNOWN = 10_000;
const PAGE = 500;

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/**
 * Which scenarios there are, so that a search for a part of a name becomes a search for whole names, which an index
 * answers: of a million alerts there are some dozens of scenarios. A name is noted before the first alert of it is
 * stored, and again each day, so that one that no alert has any more can be told from one that is in use.
 */
export function createScenarioNames(db: Db, alerts: Collection<AlertDocument>) {
  const names = db.collection<ScenarioDocument>('alert_scenarios', DURABLE);
  const counters = countersOf(db);
  // Another process may write one of them at the same moment.
  const repeated = createDeadlockQueue((error) => isDuplicateKey(error) || isDeadlock(error));
  /** What this process has noted, with the day. */
  const known = new Map<string, string>();
  /** What this process is noting: many pushes of a new scenario come at once, and would wait for each other. */
  const noting = new Map<string, Promise<void>>();

  function remember(folded: readonly string[], day: string): void {
    for (const name of folded) {
      known.delete(name);
      known.set(name, day);
    }
    for (const oldest of known.keys()) {
      if (known.size <= MAX_KNOWN) break;
      known.delete(oldest);
    }
  }

  async function put(folded: readonly string[], day: string): Promise<void> {
    const write = () =>
      names.bulkWrite(
        // In one order everywhere, so that no two of these wait for each other.
        [...folded].sort().map((name) => ({
          updateOne: {
            filter: { _id: sha256Hex(name) },
            update: { $setOnInsert: { folded: name }, $max: { day } },
            upsert: true,
          },
        })),
        { ordered: false },
      );
    await repeated(write);
  }

  let built = false;
  /** Alerts of an older release have no noted names. */
  async function ensureBuilt(): Promise<void> {
    if (built) return;
    if ((await counters.findOne({ _id: BUILT })) === null) {
      const found = await alerts
        .aggregate<{ _id: string }>([{ $group: { _id: '$scenario_folded' } }], { allowDiskUse: true })
        .toArray();
      for (let at = 0; at < found.length; at += PAGE)
        await put(
          found.slice(at, at + PAGE).map(({ _id }) => _id),
          dayOf(new Date()),
        );
      await increaseCounter(counters, BUILT);
    }
    built = true;
  }

  return {
    /** To be called before alerts of these scenarios are stored. */
    async note(scenarios: Iterable<string>): Promise<void> {
      const day = dayOf(new Date());
      const fresh = [...new Set(scenarios)].filter((name) => known.get(name) !== day);
      const unnoted = fresh.filter((name) => !noting.has(name));
      if (unnoted.length > 0) {
        const noted = put(unnoted, day)
          .then(() => remember(unnoted, day))
          .finally(() => {
            for (const name of unnoted) noting.delete(name);
          });
        for (const name of unnoted) noting.set(name, noted);
      }
      await Promise.all(fresh.flatMap((name) => noting.get(name) ?? []));
    },

    /** The names that match a pattern; null when there are more than `limit`. */
    async matching(pattern: string, limit: number): Promise<string[] | null> {
      await ensureBuilt();
      const found = await names
        .find({ folded: { $regex: pattern } }, { projection: { folded: 1 } })
        .limit(limit + 1)
        .toArray();
      return found.length > limit ? null : found.map(({ folded }) => folded);
    },

    /** Removes the names that no alert has any more, of those that were last noted before a time. */
    async forget(before: Date): Promise<void> {
      for await (const { _id, folded, day } of names.find({ day: { $lt: dayOf(before) } })) {
        const used = await alerts.findOne({ scenario_folded: folded }, { projection: { _id: 1 } });
        // With the day it was found with: a process that notes it again in this moment has changed that.
        if (used === null) await names.deleteOne({ _id, day });
      }
    },
  };
}
