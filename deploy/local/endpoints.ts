import { localSecrets } from './local-secrets.js';
import type { RunState } from './run-state.js';

/** `.local/endpoints.json`, as tests, scripts and people read it. */
export interface Endpoints {
  gateway: string | null;
  /** Only where PROXY_PORT gives the proxy an address of its own. */
  proxy?: string;
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
    ...(addresses.proxy === undefined ? {} : { proxy: addresses.proxy }),
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
