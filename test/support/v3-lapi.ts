import { gzipSync } from 'node:zlib';

/** What a LAPI keeps on disk: from 1.6.11 on a restart does not log in while the token lasts. */
export interface LapiDisk {
  token: string | null;
}

export interface PushOutcome {
  /** Signals that were answered 2xx. */
  taken: number;
  /** Signals that this client will never offer again. */
  lost: number;
}

interface DecisionStream {
  new: { scenario: string; scope: string; decisions: { value: string; duration: string }[] }[] | null;
  deleted: { scope: string; decisions: string[] }[] | null;
}

const BATCH = 50;
/** Covers login and retries (wire contract, 6.4). */
const PUSH_LIMIT_MS = 5000;
const GZIP_ABOVE = 5120;
/** A token is renewed within its last minute. */
const RENEW_MS = 60_000;
const LOGIN_RETRIES = 2;

/**
 * A local API server of 1.7, by what is documented of it (wire contract of the proxy, sections 6.1 to 6.4): what
 * Debian's 1.4.6 cannot show. It logs in before anything else, zips what is larger than 5 kB, renews its token, tries a
 * 401 or 403 twice again after a new login, gives a push five seconds, and offers no signal a second time. Waits of
 * seven seconds after 429, 503 and 504 are left out: the five seconds are over by then.
 */
export function createV3Lapi(options: {
  url: string;
  machineId: string;
  password?: string;
  disk?: LapiDisk;
}) {
  const { url, machineId, password = 'a-password-of-the-test', disk = { token: null } } = options;
  const decisions = new Set<string>();
  let logins = 0;

  const send = (
    method: string,
    path: string,
    body: unknown,
    { token = null, signal }: { token?: string | null; signal?: AbortSignal | undefined },
  ): Promise<Response> => {
    const text = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const zip = text !== null && text.length > GZIP_ABOVE;
    return fetch(`${url}/v3/${path}`, {
      method,
      headers: {
        'user-agent': 'crowdsec/v1.7.8-linux',
        ...(text === null ? {} : { 'content-type': 'application/json' }),
        ...(zip ? { 'content-encoding': 'gzip' } : {}),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(text === null ? {} : { body: zip ? gzipSync(text) : text }),
      ...(signal === undefined ? {} : { signal }),
    });
  };

  const login = async (signal?: AbortSignal): Promise<void> => {
    const scenarios = ['crowdsecurity/ssh-bf'];
    const asked = { machine_id: machineId, password, scenarios };
    const answer = await send('POST', 'watchers/login', asked, { signal });
    if (answer.status !== 200) throw new Error(`the login was answered ${answer.status}`);
    const { code, expire, token } = (await answer.json()) as { code: number; expire: string; token: string };
    if (code !== 200 || Number.isNaN(Date.parse(expire))) throw new Error('the login has another shape');
    logins += 1;
    disk.token = token;
  };

  /** With a token that lasts; after 401 and 403 with a new one. */
  const request = async (
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<Response> => {
    for (let attempt = 0; ; attempt += 1) {
      if (disk.token === null || expiryOf(disk.token) < Date.now() + RENEW_MS) await login(signal);
      const answer = await send(method, path, body, { token: disk.token, signal });
      if ((answer.status !== 401 && answer.status !== 403) || attempt >= LOGIN_RETRIES) return answer;
      await answer.arrayBuffer();
      disk.token = null;
    }
  };

  /** Answers whether it came from a copy, and how old that is. */
  const pull = async (startup: boolean): Promise<{ age: string | null }> => {
    const answer = await request('GET', `decisions/stream${startup ? '?startup=true' : ''}`);
    if (answer.status !== 200) throw new Error(`the decision stream was answered ${answer.status}`);
    const stream = (await answer.json()) as DecisionStream;
    for (const { scope, decisions: values } of stream.deleted ?? [])
      for (const value of values) decisions.delete(`${scope} ${value}`);
    for (const { scope, decisions: listed } of stream.new ?? [])
      for (const { value } of listed) decisions.add(`${scope} ${value}`);
    return { age: answer.headers.get('age') };
  };

  return {
    machineId,
    disk,
    logins: () => logins,
    /** What it would block. */
    decisions: () => [...decisions].sort(),
    pull,
    /** @throws Error as the process would end: without a token it does not start */
    async start(): Promise<{ age: string | null }> {
      if (disk.token === null) await login();
      await request('POST', 'metrics/', { apil_version: 'v1.7.8', machines: [], bouncers: [] });
      return pull(true);
    },
    /** What has gathered since the last push, 50 at a time; behind an error the rest is dropped. */
    async push(signals: readonly unknown[]): Promise<PushOutcome> {
      let taken = 0;
      for (let at = 0; at < signals.length; at += BATCH) {
        const batch = signals.slice(at, at + BATCH);
        const answer = await request('POST', 'signals', batch, AbortSignal.timeout(PUSH_LIMIT_MS)).catch(
          () => null,
        );
        await answer?.arrayBuffer();
        if (answer === null || !answer.ok) break;
        taken += batch.length;
      }
      return { taken, lost: signals.length - taken };
    },
    /** Whether it counts as delivered; if not, the client keeps it and sends it again. */
    async usageMetrics(metrics: object): Promise<boolean> {
      const answer = await request('POST', 'usage-metrics', metrics).catch(() => null);
      await answer?.arrayBuffer();
      return answer !== null && (answer.ok || answer.status === 422);
    },
  };
}

function expiryOf(token: string): number {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    exp: number;
  };
  return claims.exp * 1000;
}
