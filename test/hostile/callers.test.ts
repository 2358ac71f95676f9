import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { neededScope } from '../../api/http/route.js';
import type { Route } from '../../api/http/route.js';
import { allows } from '../../schemas/signals/api-keys.js';
import type { KeyScope } from '../../schemas/signals/api-keys.js';
import { signIn } from '../api/support/sign-in.js';
import { ADMIN_TOKEN } from '../api/support/start-gateway.js';
import { DASHBOARD_KEY, startProxy } from '../api/support/start-proxy.js';
import type { Proxy } from '../api/support/start-proxy.js';
import { CONVERSATION_LIMITS } from '../../schemas/retrieval/conversations.js';
import { sampleConversation, sampleMessage } from '../contracts/retrieval/conversation-samples.js';
import { sampleFeedback, sampleQuestions, sampleResult } from '../contracts/retrieval/evaluation-samples.js';
import { indexText } from '../api/support/uploads.js';
import { sampleSignal } from '../support/signal-client.js';

/** In texts, file names and metadata of each side, and in nothing that a caller sends: whoever sees one has read. */
const MARKS = { own: 'quagga', foreign: 'thylacine', signals: 'dodo' } as const;
const KINDS = ['own', 'foreign', 'missing'] as const;
type Kind = (typeof KINDS)[number];

interface Caller {
  name: string;
  headers: Record<string, string>;
  /** A user of the documents, with a role on the partition `own` or none. */
  user?: { role: 'viewer' | 'editor' | 'owner' | null; admin: boolean };
  /** A holder of a key of the management side. */
  scopes?: readonly KeyScope[];
}

type Ids = Record<Kind, Record<string, string>>;

const RANK = { viewer: 0, editor: 1, owner: 2 } as const;
/** How the documents refuse a caller for its lack of rights; what a route itself forbids reads otherwise. */
const REFUSAL =
  /"(Missing token|Invalid token|Unauthenticated|Signed in without a user token|Admin privileges required|Access to partition|Role ')/;
const NOT_MINE = /Access to partition/;
/** Answers whoever has a session, and ends it: test/api/session. */
const OWN_SESSION = '/app/session';
/** Makes what it names: there is no partition `missing` after it any more. */
const MAKES_PARTITIONS = 'post /partition/{partition}';
const READ_WITHIN_MS = 2_000;

function isKnown({ auth }: Route): boolean {
  if (auth === 'public' || auth === 'user' || auth === 'admin') return true;
  if (typeof auth !== 'object' || auth === null) return false;
  if ('partition' in auth) return auth.partition in RANK;
  return 'key' in auth ? auth.key === 'dashboard' : 'token' in auth && auth.token === 'capi';
}

/** Whether what the route declares lets this caller in, for a resource of this kind. */
function mayCall(of: Route, { user, scopes }: Caller, kind: Kind): boolean {
  const { auth } = of;
  if (auth === 'public' || (typeof auth === 'object' && 'token' in auth)) return true;
  if (typeof auth === 'object' && 'key' in auth)
    return scopes !== undefined && allows(scopes, neededScope(of));
  if (user === undefined) return false;
  if (auth === 'user') return true;
  if (auth === 'admin') return user.admin;
  if (auth.admin === true && !user.admin) return false;
  return kind === 'own' && user.role !== null && RANK[user.role] >= RANK[auth.partition];
}

/** A conversation of the user, with the mark in it. */
async function fillConversation(proxy: Proxy, mark: string, user_id: number) {
  const given = sampleConversation({ user_id, title: mark });
  const { conversation_id, revision } = await proxy.adapters.conversations.create(given, 9);
  const change = { revision, messages: [sampleMessage({ content: mark })], most: CONVERSATION_LIMITS };
  await proxy.adapters.conversations.write(user_id, conversation_id, change);
  return { conversation_id };
}

/** A question set, a run over it and feedback, each with the mark in it. */
async function fillEvaluation(proxy: Proxy, partition: string, mark: string, userId: number) {
  const { partitions, questionSets, evaluationRuns, feedback } = proxy.adapters;
  const { partition_key } = (await partitions.get(partition))!;
  const question = `Where is the ${mark}?`;
  const set = { partition_key, name: 'main', note: null, created_by: String(userId) };
  const { version, version_id } = await questionSets.add(
    set,
    sampleQuestions(2).map((one) => ({ ...one, question })),
    9,
  );
  const run = {
    run_id: `${partition}-run`,
    partition,
    partition_key,
    set: 'main',
    version,
    version_id,
    label: mark,
    settings: { chat: false, top_k: 50, preset: null, overrides: {} },
    config: null,
    questions_total: 2,
    started_by: String(userId),
  };
  await evaluationRuns.insert(run);
  await evaluationRuns.record(run.run_id, [sampleResult(0, { question })]);
  const { feedback_id } = await feedback.put(
    sampleFeedback({ partition_key, user_id: userId, question, answer: mark }),
    9,
  );
  return { set: 'main', run_id: run.run_id, feedback_id };
}

async function populate(proxy: Proxy): Promise<{ callers: Caller[]; ids: Ids }> {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const owner = proxy.addUser('owner');
  const stranger = proxy.addUser('stranger');
  const side = async (kind: 'own' | 'foreign', { token, userId }: { token: string; userId: number }) => {
    const mark = MARKS[kind];
    const metadata = JSON.stringify({ note: `${mark} note`, relationship_id: 'shared', parent_id: 'root' });
    const where = { partition: kind, fileId: `${kind}-file`, token, metadata };
    const [extract = ''] = await indexText(proxy, where, [`${mark} is the word zanzibar`]);
    const workspace = `${kind}-space`;
    for (const [path, body] of [
      [`/partition/${kind}/workspaces`, { workspace_id: workspace, display_name: `${mark} space` }],
      [`/partition/${kind}/workspaces/${workspace}/files`, { file_ids: [where.fileId] }],
    ] as const)
      await proxy.call('POST', path, {
        token,
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      });
    const evaluation = await fillEvaluation(proxy, kind, mark, userId);
    const [file] = await proxy.adapters.files.listLive({ kind: 'all', userId: 0 }, kind);
    return {
      partition: kind,
      file_id: where.fileId,
      extract_id: extract,
      workspace_id: workspace,
      task_id: file?.live?.task_id ?? '',
      ...evaluation,
      ...(await fillConversation(proxy, mark, userId)),
      id: String(userId),
      user_id: String(userId),
    };
  };
  const ids: Ids = { own: await side('own', owner), foreign: await side('foreign', stranger), missing: {} };
  const viewer = proxy.addUser('viewer');
  const editor = proxy.addUser('editor');
  proxy.addMember(viewer.userId, 'own', 'viewer');
  proxy.addMember(editor.userId, 'own', 'editor');
  await proxy.push([sampleSignal(1, { message: `${MARKS.signals} was here` })], {
    token: mintToken('w1').token,
  });
  const keyOf = async (scope: KeyScope): Promise<string> => {
    const made = await proxy.ask('/api/keys', { method: 'POST', body: { name: scope, scopes: [scope] } });
    return ((await made.json()) as { key: string }).key;
  };
  const bySession = async (...tokens: string[]): Promise<Record<string, string>> => {
    let headers: Record<string, string> = {};
    for (const token of tokens) ({ headers } = await signIn(proxy, token, headers));
    return headers;
  };
  const ended = await bySession(owner.token);
  await proxy.call('DELETE', '/app/session', { token: null, headers: ended });
  const readingKey = await keyOf('read');
  const user = (role: NonNullable<Caller['user']>['role'], admin = false) => ({ user: { role, admin } });
  const callers: Caller[] = [
    { name: 'nobody', headers: {} },
    { name: 'a wrong token', headers: bearer('or-wrong-0123456789abcdef') },
    { name: 'a wrong key', headers: { 'x-api-key': 'wrong-0123456789abcdef' } },
    { name: 'a plain user', headers: bearer(proxy.addUser('plain').token), ...user(null) },
    { name: 'a viewer', headers: bearer(viewer.token), ...user('viewer') },
    { name: 'an editor', headers: bearer(editor.token), ...user('editor') },
    { name: 'an owner', headers: bearer(owner.token), ...user('owner') },
    { name: 'an administrator', headers: bearer(ADMIN_TOKEN), ...user(null, true) },
    { name: 'a key that reads', headers: { 'x-api-key': readingKey }, scopes: ['read'] },
    { name: 'the dashboard', headers: { 'x-api-key': DASHBOARD_KEY }, scopes: ['admin'] },
    { name: 'an owner by session', headers: await bySession(owner.token), ...user('owner') },
    {
      name: 'an editor who added a key to the session',
      headers: await bySession(editor.token, readingKey),
      ...user('editor'),
      scopes: ['read'],
    },
    { name: 'the dashboard by session', headers: await bySession(DASHBOARD_KEY), scopes: ['admin'] },
    { name: 'a session that has ended', headers: ended },
    { name: 'a watcher', headers: bearer(mintToken('w2').token) },
  ];
  return { callers, ids };
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

function fill({ path, request }: Route, ids: Record<string, string>, kind: Kind): string {
  const filled = path.replaceAll(/\{\+?(\w+)\}/g, (_, name: string) => ids[name] ?? 'missing');
  const asksForText = request?.query !== undefined && 'text' in request.query.shape;
  return `${filled}${asksForText ? `?text=zanzibar&partitions=${kind}` : ''}`;
}

/** The answer as far as it comes: a stream of events may have no end. */
async function read(response: Response, stop: AbortController): Promise<string> {
  const parts: Buffer[] = [];
  const timer = setTimeout(() => stop.abort(), READ_WITHIN_MS);
  try {
    for await (const bytes of response.body ?? []) parts.push(Buffer.from(bytes));
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts).toString();
}

/**
 * Asks each route of the table as each caller for what is its own, another user's and missing. Whoever a route lets in
 * changes things of nobody only, so that the others find them.
 * @returns one line for everything that is not as the routes declare
 */
async function askEverything(proxy: Proxy): Promise<{ findings: string[]; asked: number }> {
  const { callers, ids } = await populate(proxy);
  const findings: string[] = [];
  let asked = 0;
  for (const one of proxy.routes) {
    if (!isKnown(one)) {
      findings.push(`${nameOf(one)}: declares nothing about who may call`);
      continue;
    }
    if (one.path === OWN_SESSION) continue;
    const method = one.method === 'all' ? 'get' : one.method;
    const guardedByCapi = typeof one.auth === 'object' && 'token' in one.auth;
    for (const kind of one.path.includes('{') ? KINDS : (['own'] as const)) {
      const askAs = async (caller: Caller): Promise<void> => {
        const admitted = mayCall(one, caller, kind);
        const changes = method !== 'get' && admitted && kind !== 'missing';
        const names = changes ? { partition: ids[kind]['partition'] ?? '' } : ids[kind];
        // The partition itself is all that such a route names.
        if (changes && /^\/partition\/\{partition\}\/?$/.test(one.path)) return;
        if (admitted && nameOf(one) === MAKES_PARTITIONS) return;
        const report = (what: string): void =>
          void findings.push(`${nameOf(one)}, ${caller.name}, ${kind}: ${what}`);
        const stop = new AbortController();
        const response = await fetch(`${proxy.url}${fill(one, names, kind)}`, {
          method: method.toUpperCase(),
          headers: caller.headers,
          redirect: 'manual',
          signal: stop.signal,
        });
        const { status } = response;
        const text = await read(response, stop);
        asked += 1;
        const role = caller.user?.role ?? null;
        const byKey = typeof one.auth === 'object' && 'key' in one.auth;
        const refused = [401, 403].includes(status) && (byKey || REFUSAL.test(text));
        // A route for any user may find only later whose the thing is that it was asked for.
        const notTheirs = one.auth === 'user' && (role === null || kind === 'foreign') && NOT_MINE.test(text);
        if (admitted && refused && !guardedByCapi && !notTheirs) report(`refused, ${text.slice(0, 200)}`);
        // What is not there has nobody's role, and may be answered for what the request lacks besides.
        const absent = kind === 'missing' && caller.user !== undefined && status >= 400 && status < 500;
        if (!admitted && !refused && !absent) report(`answered ${status}`);
        if (status >= 500 && ![501, 502, 503].includes(status)) report(`broke with ${status}`);
        const reads = { own: role !== null, foreign: false, signals: caller.scopes !== undefined };
        for (const [whose, mark] of Object.entries(MARKS) as [keyof typeof MARKS, string][])
          if (!reads[whose] && text.includes(mark)) report(`shows what is ${whose}`);
      };
      await Promise.all(callers.map(askAs));
    }
  }
  return { findings, asked };
}

let proxy: Proxy;
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy.close());

describe('callers × routes × own, foreign, missing', () => {
  it('is answered as each route declares, and shows nothing of others', async () => {
    const { findings, asked } = await askEverything(proxy);
    expect(findings).toEqual([]);
    expect(asked).toBeGreaterThan(2_000);
  }, 120_000);

  it('is compared with what a route declares, and asks of each that it declares something', async () => {
    const other = await startProxy();
    try {
      const listing = other.routes.find((one) => nameOf(one) === 'get /partition/');
      const { auth: _auth, ...undeclared } = listing!;
      const routes = [undeclared as Route, { ...listing!, auth: 'admin' as const }];
      const { findings } = await askEverything({ ...other, routes });
      expect(findings).toContain('get /partition/: declares nothing about who may call');
      expect(findings).toContain('get /partition/, a viewer, own: answered 200');
      expect(findings).not.toContainEqual(expect.stringContaining('an administrator'));
    } finally {
      await other.close();
    }
  }, 60_000);
});
