import type { ApiVersion } from '../../../schemas/signals/signals.js';
import type { Sender } from '../intake/identify-watcher.js';

export interface StreamRequest {
  version: ApiVersion;
  startup: boolean;
  sender: Sender;
  /** Where it comes from, for what one address may take. */
  address: string;
}

/** What a target asks of the decision stream; null for another target. */
export function streamRequest(
  method: string,
  target: string,
): Pick<StreamRequest, 'version' | 'startup'> | null {
  const [, version, query] = /^\/(v[23])\/decisions\/stream\/?(?:\?(.*))?$/.exec(target) ?? [];
  if (method !== 'GET' || version === undefined) return null;
  const startup = new URLSearchParams(query ?? '').get('startup') === 'true';
  return { version: version as ApiVersion, startup };
}
