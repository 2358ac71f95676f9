import type { Route } from '../../../api/http/route.js';
import type { Gateway } from './start-gateway.js';

/** Tokens. `member` belongs to another partition, and owns it; the others have their role on the one named `secret`. */
export type People = Record<'outsider' | 'member' | 'viewer' | 'editor' | 'owner' | 'admin', string>;

/** Open by the wire contract, section 1.1: probes and browsers need them, and they hold no data. */
const OPEN = new Set([
  '/',
  // Files of the console, and sessions by a cookie of their own: test/api/session, test/api/console.
  '/app',
  '/app/session',
  '/auth/methods',
  '/app/{+path}',
  '/docs',
  '/docs/assets/{name}',
  '/health_check',
  // By a token of its own: test/api/service/metrics.test.ts.
  '/metrics',
  '/openapi.json',
  '/ready',
  '/redoc',
  '/version',
]);

/** Creates what it names; its own checks say who may (wire contract, section 1.5). */
const NAMES_A_NEW_PARTITION = new Set(['post /partition/{partition}']);

/** What an operator alone may do or see, by the path and not by what the route says of itself. */
const FOR_OPERATORS = /^\/(admin|actors|config|model-endpoints|monitoring|presets|prompts)(\/|$)/;

const RANK = { viewer: 0, editor: 1, owner: 2 } as const;
type Rank = keyof typeof RANK;

/** Refused for who is asking, whatever is asked: a 403 of a route's own checks reads otherwise. */
const REFUSAL = /^(Missing token|Invalid token|Admin privileges required|Access to partition|Role ')/;

function named({ method, path }: Route): string {
  return `${method} ${path}`;
}

function fill(path: string): string {
  return path.replace('{partition}', 'secret').replaceAll(/\{\+?\w+\}/g, 'unknown');
}

/** Who must be let in by what a route declares. */
function admitted({ auth }: Route, who: keyof People): boolean {
  if (auth === 'user') return true;
  if (auth === 'admin') return who === 'admin';
  if (typeof auth !== 'object' || !('partition' in auth)) return false;
  // Being an administrator is no membership, and nobody here is both.
  if (auth.admin === true) return false;
  return who in RANK && RANK[who as Rank] >= RANK[auth.partition];
}

/**
 * Asks every route of the table as everybody: without a token, with a wrong one, as an outsider, as a member of another
 * partition, as viewer, editor, owner and administrator. Nothing is sent along, and every id but the partition's is
 * unknown, so whoever is let in changes little.
 * @returns one line for everything that is not as declared; none means that all is well
 */
export async function walkRoutes(gateway: Gateway, people: People): Promise<string[]> {
  const findings: string[] = [];
  // What deletes comes last: the partition must be there for the others.
  const routes = gateway.routes
    .filter(({ path }) => !/^\/(api|v2|v3)\//.test(path))
    .sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'));

  const refusedFor = async (
    of: Route,
    token: string | null,
  ): Promise<{ status: number; refusal: string }> => {
    const response = await gateway.call(of.method.toUpperCase(), fill(of.path), { token });
    const text = await response.text();
    const detail: unknown = response.status === 403 ? (JSON.parse(text) as { detail: unknown }).detail : '';
    const refusal = typeof detail === 'string' && REFUSAL.test(detail) ? detail : '';
    return { status: response.status, refusal };
  };

  for (const one of routes) {
    const report = (what: string): void => void findings.push(`${named(one)}: ${what}`);
    const { auth, path } = one;
    const known =
      auth === 'public' ||
      auth === 'user' ||
      auth === 'admin' ||
      (typeof auth === 'object' && 'partition' in auth && auth.partition in RANK);
    if (!known) {
      report('names nobody who may call');
      continue;
    }
    if (auth === 'public') {
      if (!OPEN.has(path)) report('is open to everyone');
      continue;
    }
    const onPartition = path.includes('{partition}') && !NAMES_A_NEW_PARTITION.has(named(one));
    if (onPartition && typeof auth !== 'object') report('asks for no role on its partition');
    if (!onPartition && typeof auth === 'object') report('asks for a role on a partition it does not name');

    if (FOR_OPERATORS.test(path) && auth !== 'admin') report('is for operators, and lets others in');

    const missing = await refusedFor(one, null);
    if (missing.refusal !== 'Missing token') report(`answered nobody ${missing.status}`);
    const wrong = await refusedFor(one, 'or-wrong-token-0123456789');
    if (wrong.refusal !== 'Invalid token') report(`answered a wrong token ${wrong.status}`);
    for (const who of ['outsider', 'member', 'viewer', 'editor', 'owner', 'admin'] as const) {
      // Whoever may delete the partition itself would end the walk.
      if (named(one) === 'delete /partition/{partition}' && admitted(one, who)) continue;
      const { status, refusal } = await refusedFor(one, people[who]);
      // By the path and not by what the route says of itself: a route that forgets its scope says nothing wrong.
      const outside = onPartition && ['outsider', 'member', 'admin'].includes(who);
      const expected = admitted(one, who) && !outside;
      if (expected && refusal !== '') report(`refused the ${who}: ${refusal}`);
      if (!expected && refusal === '') report(`answered a ${who} ${status}`);
      if (status >= 500 && status !== 501) report(`broke for the ${who}: ${status}`);
    }
  }
  return findings;
}
