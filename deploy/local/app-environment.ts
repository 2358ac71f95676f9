import { availableParallelism } from 'node:os';
import { localSecrets } from './local-secrets.js';
import type { AppServices } from './stack.js';
import type { Workbench } from './workbench.js';

/**
 * Where models are. One that shares this machine with all else gets half of its cores for vectors: its threads wait for
 * each other by spinning, so a thread too many holds up the model and everything beside it.
 */
export function modelEnvironment(
  { ollama }: Pick<AppServices, 'ollama'>,
  { EMBEDDER_NUM_THREAD: wanted }: Workbench['settings'],
): Record<string, string> {
  if (ollama === undefined) return {};
  const half = String(Math.max(1, Math.floor(availableParallelism() / 2)));
  const threads = wanted ?? (ON_THIS_MACHINE.test(ollama) ? half : undefined);
  return { OLLAMA_HOST: ollama, ...(threads !== undefined && { EMBEDDER_NUM_THREAD: threads }) };
}

const ON_THIS_MACHINE = /^(?:https?:\/\/)?(?:127\.|localhost\b|\[::1\])/;

/**
 * What gateway, worker and the operator's scripts get: every variable of the environment and of `.env`, and below
 * them our own choice of what a first run needs.
 */
export function appEnvironment(bench: Workbench, services: AppServices): NodeJS.ProcessEnv {
  const secrets = localSecrets(bench.paths.local);
  const defaults = {
    HOST: '127.0.0.1',
    AUTH_TOKEN: secrets.auth_token,
    DASHBOARD_API_KEY: secrets.dashboard_key,
    SECRETS_KEY: secrets.secrets_key,
    MONGODB_URL: services.mongodb,
    ...(services.opensearch === undefined ? {} : { OPENSEARCH_URL: services.opensearch }),
    TEMPORAL_ADDRESS: services.temporal,
    TEMPORAL_NAMESPACE: 'default',
    // The console leads there.
    ...(services.temporal_ui === undefined ? {} : { TEMPORAL_UI_ORIGIN: services.temporal_ui }),
    ...(services.redis === undefined ? {} : { REDIS_URL: services.redis }),
    ...modelEnvironment(services, bench.settings),
    LOG_FORMAT: 'json',
  };
  return { ...defaults, ...bench.settings };
}
