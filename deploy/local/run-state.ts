import type { ProcessIdentity } from './process-identity.js';

/** Where things can be reached; a service that was given by a URL in the environment stands here too. */
export interface Addresses {
  gateway?: string;
  /** Where PROXY_PORT gives the proxy an address of its own. */
  proxy?: string;
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

/** A process that this clone's launcher started: a service, gateway or worker, or a tool that builds something. */
interface RecordedProcess extends ProcessIdentity {
  readonly kind: 'service' | 'app' | 'tool';
  /** It was there before the commands that use it now: they leave it running. */
  readonly kept: boolean;
  /** What it listens on, so that it comes back at the same place. */
  readonly ports: readonly number[];
}

/** A command of the launcher that is at work and needs what is running. */
export interface RecordedCommand extends ProcessIdentity {
  readonly command: string;
}

export interface RunState {
  commands: RecordedCommand[];
  processes: Record<string, RecordedProcess>;
  addresses: Addresses;
}
