import { localSecrets } from './local-secrets.js';
import type { RunState } from './run-record.js';

/** Where things can be reached; a service that was given by a URL in the environment stands here too. */
export interface Addresses {
  gateway?: string;
  temporal?: string;
  temporal_ui?: string;
  mongodb?: string;
  /** Of the launcher's own MongoDB, where that is FerretDB: nothing else looks at it. */
  postgres?: string;
  opensearch?: string;
  redis?: string;
  ollama?: string;
  capi?: string;
  /** The bearer token, when the user chose it; otherwise the clone's own is used. */
  auth_token?: string;
  dashboard_key?: string;
}

/** `.local/endpoints.json`, as tests, scripts and people read it. */
export interface Endpoints {
  gateway: string | null;
  temporal: string | null;
  temporal_ui: string | null;
  mongodb: string | null;
  opensearch: string | null;
  redis: string | null;
  ollama: string | null;
  capi: string | null;
  auth_token: string;
  dashboard_key: string;
  pids: Record<string, number>;
}

export function endpointsOf(
  local: string,
  { addresses, processes }: Pick<RunState, 'addresses' | 'processes'>,
): Endpoints {
  const secrets = localSecrets(local);
  const running = Object.entries(processes).filter(([, { kind }]) => kind !== 'tool');
  return {
    gateway: addresses.gateway ?? null,
    temporal: addresses.temporal ?? null,
    temporal_ui: addresses.temporal_ui ?? null,
    mongodb: addresses.mongodb ?? null,
    opensearch: addresses.opensearch ?? null,
    redis: addresses.redis ?? null,
    ollama: addresses.ollama ?? null,
    capi: addresses.capi ?? null,
    auth_token: addresses.auth_token ?? secrets.auth_token,
    dashboard_key: addresses.dashboard_key ?? secrets.dashboard_key,
    pids: Object.fromEntries(running.map(([name, { pid }]) => [name, pid])),
  };
}
