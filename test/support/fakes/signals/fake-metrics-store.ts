import { createHash } from 'node:crypto';
import type { HeldMetrics, MetricsStore } from '../../../../activities/ports/held-metrics.js';

interface Held extends HeldMetrics {
  watcher: string;
  at: Date;
  refused: boolean;
}

/** Held metrics in a Map, in order of receipt. */
export function createFakeMetricsStore(most = 2_000): MetricsStore {
  const all = new Map<string, Held>();
  const waiting = (): Held[] =>
    [...all.values()].filter(({ refused }) => !refused).sort((a, b) => a.at.getTime() - b.at.getTime());
  return {
    async hold(watcher, items, at) {
      if (waiting().filter((item) => item.watcher === watcher).length + items.length > most) return 'full';
      const kept: string[] = [];
      for (const item of items) {
        const id = createHash('sha256').update(`${watcher}\n${item.path}\n`).update(item.bytes).digest('hex');
        if (all.get(id)?.refused === false) continue;
        all.delete(id);
        all.set(id, { ...item, id, watcher, at: new Date(at), refused: false });
        kept.push(id);
      }
      return kept;
    },
    async next(watcher) {
      const first = waiting().find((item) => item.watcher === watcher);
      return first === undefined ? null : { id: first.id, part: first.part };
    },
    async read(id) {
      const found = waiting().find((item) => item.id === id);
      return found === undefined ? null : { id, path: found.path, bytes: found.bytes, part: found.part };
    },
    async remove(id) {
      all.delete(id);
    },
    async refuse(id) {
      const found = all.get(id);
      if (found !== undefined) found.refused = true;
    },
    async dropHeld(before) {
      for (const { id, at } of waiting()) if (at < before) all.delete(id);
    },
    async watchersHolding(before, limit, offset = 0) {
      const late = waiting().filter(({ at }) => at < before);
      return [...new Set(late.map(({ watcher }) => watcher))].slice(offset, offset + limit);
    },
    async queues() {
      return [...new Set([...all.values()].map(({ watcher }) => watcher))].sort().map((watcher) => {
        const mine = [...all.values()].filter((item) => item.watcher === watcher);
        const held = waiting().filter((item) => item.watcher === watcher);
        return {
          watcher,
          held: held.length,
          oldest: held[0]?.at ?? null,
          refused: mine.length - held.length,
        };
      });
    },
  };
}
