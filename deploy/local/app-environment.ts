import { localSecrets } from './local-secrets.js';
import type { ServiceAddresses } from './stack.js';
import type { Workbench } from './workbench.js';

/**
 * What gateway, worker and the operator's scripts get: every variable of the environment and of `.env`, and below
 * them our own choice of what a first run needs.
 */
export function appEnvironment(bench: Workbench, services: ServiceAddresses): NodeJS.ProcessEnv {
  const secrets = localSecrets(bench.paths.local);
  const defaults = {
    HOST: '127.0.0.1',
    AUTH_TOKEN: secrets.auth_token,
    DASHBOARD_API_KEY: secrets.dashboard_key,
    SECRETS_KEY: secrets.secrets_key,
    MONGODB_URL: services.mongodb,
    OPENSEARCH_URL: services.opensearch,
    TEMPORAL_ADDRESS: services.temporal,
    TEMPORAL_NAMESPACE: 'default',
    ...(services.redis === undefined ? {} : { REDIS_URL: services.redis }),
    ...(services.ollama === undefined ? {} : { OLLAMA_HOST: services.ollama }),
    LOG_FORMAT: 'json',
  };
  return { ...process.env, ...defaults, ...bench.settings };
}
