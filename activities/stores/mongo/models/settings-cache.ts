import type { PresetStore, PromptStore } from '../../../ports/model-administration.js';
import type { ModelEndpointStore } from '../../../ports/models.js';
import { keptForRequest } from '../../../request-scope.js';
import type { SettingsRevision } from './settings-revision.js';

/** What was answered under one revision. */
interface Generation {
  revision: string | null;
  /** By `performance.now`. */
  since: number;
  answers: Map<string, Promise<unknown>>;
}

/** What changes records past the stores (a restored backup, a process of an earlier release) shows after so long. */
const MAX_AGE_MS = 1000;
/** Names come from clients. */
const MAX_ANSWERS = 500;

/** All callers have the same object. Bytes cannot be frozen. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

/**
 * Keeps what stores answered for as long as their common revision stands: a read costs one look at the revision, and
 * within one request all reads together cost one. A change takes effect at once, in all processes: a read after it was
 * acknowledged finds another revision.
 */
export function createSettingsCache(revision: SettingsRevision) {
  const own = {};
  let latest: Generation | null = null;

  const isYoung = ({ since }: Generation): boolean => performance.now() - since < MAX_AGE_MS;

  const findGeneration = async (): Promise<Generation> => {
    const since = performance.now();
    // Read before what it is to stand for: a change between the two is then seen by the next reader.
    const read = await revision.read();
    if (latest === null || latest.revision !== read || !isYoung(latest))
      latest = { revision: read, since, answers: new Map() };
    return latest;
  };

  /** That of the request, or a new one; reads that begin together have one together. */
  const currentGeneration = async (): Promise<Generation> => {
    const kept = keptForRequest();
    const held = kept?.get(own) as Promise<Generation> | undefined;
    if (held !== undefined) {
      const generation = await held;
      if (isYoung(generation)) return generation;
    }
    const found = findGeneration();
    kept?.set(own, found);
    found.catch(() => kept?.delete(own));
    return found;
  };

  const answer = async (key: string, ask: () => Promise<unknown>): Promise<unknown> => {
    const { answers } = await currentGeneration();
    const known = answers.get(key);
    if (known !== undefined) return known;
    const asked = ask().then(freeze);
    if (answers.size >= MAX_ANSWERS) answers.clear();
    answers.set(key, asked);
    asked.catch(() => answers.delete(key));
    return asked;
  };

  const change = async (work: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await work();
    } finally {
      // Also after a failure, which may have been half a success. Where this fails too, MAX_AGE_MS is the bound.
      await revision.change().catch(() => undefined);
      keptForRequest()?.delete(own);
    }
  };

  return {
    /**
     * The same store, all of whose methods answer promises.
     * @param name of the store, among those with the same revision
     * @param reads those that change nothing; all others count as changes
     */
    over<Store extends object>(name: string, store: Store, reads: readonly (keyof Store & string)[]): Store {
      const isRead = new Set<string>(reads);
      return Object.fromEntries(
        Object.entries(store).map(([method, call]: [string, (...given: unknown[]) => Promise<unknown>]) => [
          method,
          (...given: unknown[]) =>
            isRead.has(method)
              ? answer(JSON.stringify([name, method, ...given]), () => call(...given))
              : change(() => call(...given)),
        ]),
      ) as Store;
    },
  };
}

export interface SettingsStores {
  endpoints: ModelEndpointStore;
  presets: PresetStore;
  prompts: PromptStore;
}

/** What every question reads and is rarely changed. */
export function cacheSettings(
  { endpoints, presets, prompts }: SettingsStores,
  revision: SettingsRevision,
): SettingsStores {
  const cache = createSettingsCache(revision);
  return {
    endpoints: cache.over('endpoints', endpoints, ['list', 'get', 'defaults']),
    presets: cache.over('presets', presets, ['list', 'get']),
    prompts: cache.over('prompts', prompts, ['list', 'get', 'find', 'defaults']),
  };
}
