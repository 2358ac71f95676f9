import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliFailure, EXIT } from './cli-failure.js';
import type { Target } from './gateway.js';

/** What the launcher writes while it runs; more of it is in `deploy/local/endpoints.ts`. */
export interface LocalEndpoints {
  gateway?: string | null;
  /** Only where PROXY_PORT gives the proxy an address of its own. */
  proxy?: string | null;
  mongodb?: string | null;
  opensearch?: string | null;
  temporal?: string | null;
  auth_token?: string;
  dashboard_key?: string;
}

const CLONE = fileURLToPath(new URL('../../..', import.meta.url));

/** `.local/endpoints.json` of the present folder or of the clone that this file is in; null where nothing runs. */
export function readLocalEndpoints(env: NodeJS.ProcessEnv): LocalEndpoints | null {
  const named = env['TAMIS_LOCAL_DIR'];
  const folders = named ? [named] : [join(process.cwd(), '.local'), join(CLONE, '.local')];
  for (const folder of folders) {
    try {
      return JSON.parse(readFileSync(join(folder, 'endpoints.json'), 'utf8')) as LocalEndpoints;
    } catch {
      // There is none, or it is being written.
    }
  }
  return null;
}

export interface TargetOptions {
  url?: string;
  proxyUrl?: string;
  token?: string;
  key?: string;
}

/**
 * Where the gateway is and how to be let in: flags first, then the environment, then what runs in this clone. The
 * secrets of the clone are for its own gateway and sent to no other address.
 * @throws CliFailure
 */
export function findTarget(options: TargetOptions, env: NodeJS.ProcessEnv): Target {
  const local = readLocalEndpoints(env);
  const givenProxy = firstOf(options.proxyUrl, env['TAMIS_PROXY_URL']);
  const given = firstOf(options.url, env['TAMIS_URL'], local?.gateway, givenProxy);
  if (given === null)
    throw new CliFailure(
      EXIT.wrongUse,
      'Which gateway? Give --url or TAMIS_URL, or run it in a clone in which `npm start` runs.',
    );
  const url = normalised(given);
  const own = local?.gateway != null && normalised(local.gateway) === url ? local : null;
  const ownProxy = own === null ? null : normalised(own.proxy ?? url);
  const proxyUrl = givenProxy === null ? (ownProxy ?? url) : normalised(givenProxy);
  return {
    url,
    proxyUrl,
    token: firstOf(options.token, env['TAMIS_TOKEN'], own?.auth_token),
    key: firstOf(options.key, env['TAMIS_KEY'], proxyUrl === ownProxy ? own?.dashboard_key : null),
  };
}

/** An empty one counts as none. */
function firstOf(...values: (string | null | undefined)[]): string | null {
  return values.find((value) => value != null && value !== '') ?? null;
}

function normalised(given: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new CliFailure(EXIT.wrongUse, `${given} is no address: it looks like http://127.0.0.1:8080`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new CliFailure(
      EXIT.wrongUse,
      `${given} is no address of HTTP: it looks like http://127.0.0.1:8080`,
    );
  return url.href.replace(/(?<!\/)\/+$/, '');
}
