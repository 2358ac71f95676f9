import type { Db } from 'mongodb';
import type { Agent } from 'undici';
import type { Config } from '../schemas/config/config.js';
import type { Meter } from './ports/meter.js';
import { discoverOllama } from './models/servers/discover-ollama.js';
import { seedEndpoints } from './models/seeds/seed-endpoints.js';
import { BUNDLED_PROMPTS } from './models/seeds/bundled-prompts.js';
import { seededPresets } from './models/seeds/seeded-presets.js';
import type { createEncryption } from './stores/mongo/encryption.js';
import { measuredStores } from './stores/mongo/measured-stores.js';
import { createMongoModelEndpointStore } from './stores/mongo/models/model-endpoint-store.js';
import { createMongoPresetStore } from './stores/mongo/models/preset-store.js';
import { createMongoPromptStore } from './stores/mongo/models/prompt-store.js';
import { cacheSettings } from './stores/mongo/models/settings-cache.js';
import type { SettingsStores } from './stores/mongo/models/settings-cache.js';
import { createMongoSettingsRevision } from './stores/mongo/models/settings-revision.js';

/** A start waits so long for what OLLAMA_HOST offers. */
const DISCOVERY_MS = 5000;

/** Endpoints, presets and prompts, with those of the configuration and of this release. */
export async function connectModelSettings(
  config: Config,
  { db, keys, meter }: { db: Db; keys: ReturnType<typeof createEncryption> | null; meter: Meter },
  modelServers: Agent,
): Promise<SettingsStores> {
  const { revision, ...stores } = measuredStores(
    {
      revision: createMongoSettingsRevision(db),
      endpoints: createMongoModelEndpointStore(db),
      presets: createMongoPresetStore(db),
      prompts: createMongoPromptStore(db),
    },
    meter,
  );
  await seedEndpoints({
    endpoints: stores.endpoints,
    models: config.models,
    keys,
    discover: (url) =>
      discoverOllama(modelServers, url, {
        timeoutMs: DISCOVERY_MS,
        signal: AbortSignal.timeout(DISCOVERY_MS),
      }),
  });
  for (const preset of seededPresets(config)) await stores.presets.seed(preset);
  await stores.prompts.seed(BUNDLED_PROMPTS);
  await revision.change();
  return cacheSettings(stores, revision);
}
