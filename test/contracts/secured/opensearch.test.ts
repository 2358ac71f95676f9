import { createHash, createHmac } from 'node:crypto';
import { createServer as createHttp } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { connectOpenSearch } from '../../../activities/stores/opensearch/connect-opensearch.js';
import type { OpenSearchOptions } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { accessProblemOf } from '../../../schemas/engine-access.js';
import { makeAuthorities, readTls } from '../../support/certificates.js';
import type { Authorities, Certificate } from '../../support/certificates.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

/** The real server behind doors that ask for what a secured one asks for; `test/secured` asks the security plugin. */
let authorities: Authorities;
let client: Certificate;
beforeAll(() => {
  authorities = makeAuthorities();
  client = authorities.own.issue('tamis');
});
afterAll(() => authorities.close());

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** Answers null to let a request pass, else the status to refuse it with. */
type Guard = (request: IncomingMessage, body: Buffer) => number | null;

async function openDoor(guard: Guard, tls: 'tls' | 'plain'): Promise<number> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray());
    const refused = guard(request, body);
    if (refused !== null) return void response.writeHead(refused).end('{"message":"refused"}');
    const passed = await fetch(new URL(request.url!, process.env['OPENSEARCH_URL']), {
      method: request.method!,
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      ...(body.length > 0 && { body }),
    });
    response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await passed.arrayBuffer()));
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server =
    tls === 'plain'
      ? createHttp(handle)
      : createHttps(
          {
            ...readTls(authorities.own.ca, authorities.own.issue('door')),
            requestCert: true,
            rejectUnauthorized: true,
          },
          handle,
        );
  const { port } = await listenOnLoopback(server);
  closings.push(() => endServer(server));
  return port;
}

/** Undefined: the engine can be used. */
async function problemOf(options: OpenSearchOptions): Promise<string | undefined> {
  const connection = connectOpenSearch(options);
  closings.push(() => connection.close());
  const failure: unknown = await connection.ping().catch((error: unknown) => error);
  if (failure === undefined) return undefined;
  expect(failure).toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
  return accessProblemOf(failure)?.message ?? 'no sentence';
}

test('basic authentication over TLS with a certificate on both sides', async () => {
  const right = `Basic ${Buffer.from('tamis:a password: with colons').toString('base64')}`;
  const port = await openDoor(({ headers }) => (headers.authorization === right ? null : 401), 'tls');
  const { opensearch } = parseConfig({
    OPENSEARCH_URL: `https://127.0.0.1:${port}`,
    OPENSEARCH_USERNAME: 'tamis',
    OPENSEARCH_PASSWORD: 'a password: with colons',
    OPENSEARCH_CA_FILE: authorities.own.ca,
    OPENSEARCH_CLIENT_CERT_FILE: client.certificate,
    OPENSEARCH_CLIENT_KEY_FILE: client.key,
  });
  expect(await problemOf(opensearch)).toBeUndefined();
  expect(await problemOf({ ...opensearch, password: 'another' })).toBe(
    'OPENSEARCH_USERNAME, OPENSEARCH_PASSWORD: OpenSearch refuses this user or password, or wants one.',
  );
  expect(await problemOf({ ...opensearch, username: null, password: null })).toMatch(/^OPENSEARCH_URL: /);
  expect(await problemOf({ ...opensearch, ca: authorities.foreign.ca })).toBe(
    'OPENSEARCH_CA_FILE: none of its certificates signs the certificate of OpenSearch.',
  );
  expect(await problemOf({ ...opensearch, certificate: null, key: null })).toMatch(
    /^OPENSEARCH_CLIENT_CERT_FILE: /,
  );
  // A search that is refused later on says the same, and is tried again.
  const connection = connectOpenSearch({ ...opensearch, password: 'another' });
  closings.push(() => connection.close());
  const failure: unknown = await connection.client
    .request('GET', '/_cat/indices')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'VDB_CONNECTION_ERROR', retryable: true });
});

const REGION = 'eu-west-3';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-test' };

/** Whether the signature is the one that the secret gives, by the definition of AWS Signature Version 4. */
function isSigned({ method, url, headers }: IncomingMessage, body: Buffer): boolean {
  const [, key, date, signed, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/eu-west-3\/es\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (key !== CREDENTIALS.AWS_ACCESS_KEY_ID || signed === undefined) return false;
  const sha = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
  if (headers['x-amz-content-sha256'] !== sha(body)) return false;
  const { pathname, searchParams } = new URL(url!, 'http://host');
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const path = pathname
    .split('/')
    .map((part) => encode(part))
    .join('/');
  const list = signed.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`);
  const request = [method, path, query, list.join(''), signed, sha(body)].join('\n');
  const scope = `${date}/${REGION}/es/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha(request)].join('\n');
  const mac = (with_: string | Buffer, what: string): Buffer =>
    createHmac('sha256', with_).update(what).digest();
  const signingKey = [REGION, 'es', 'aws4_request'].reduce(
    mac,
    mac(`AWS4${CREDENTIALS.AWS_SECRET_ACCESS_KEY}`, date!),
  );
  return mac(signingKey, text).toString('hex') === signature;
}

test('requests are signed for AWS with the credentials that its SDK finds', async () => {
  const seen: string[] = [];
  const port = await openDoor((request, body) => {
    seen.push(`${request.method} ${request.url}`);
    return isSigned(request, body) ? null : 403;
  }, 'plain');
  const { opensearch } = parseConfig({
    OPENSEARCH_URL: `http://127.0.0.1:${port}`,
    OPENSEARCH_AWS_REGION: REGION,
  });
  const before = { ...process.env };
  try {
    Object.assign(process.env, CREDENTIALS);
    expect(await problemOf(opensearch)).toBeUndefined();
    const connection = connectOpenSearch(opensearch);
    closings.push(() => connection.close());
    // A path and a query with signs that are encoded, and the body of a search of several lines.
    await connection.client.request('GET', '/_cat/indices/tamis-%2a*', {
      query: { format: 'json', h: 'index,health' },
    });
    const lines = [{ index: 'tamis-none-*' }, { query: { match_all: {} }, size: 0 }];
    await connection.client.request('POST', '/_msearch', { lines });
    expect(seen).toHaveLength(3);
    Object.assign(process.env, { AWS_SECRET_ACCESS_KEY: 'another-secret' });
    expect(await problemOf(opensearch)).toBe(
      'OPENSEARCH_AWS_REGION: OpenSearch refuses requests signed with these AWS credentials.',
    );
    for (const name of Object.keys(CREDENTIALS)) delete process.env[name];
    // Nor from files or from a machine of theirs.
    Object.assign(process.env, {
      AWS_CONFIG_FILE: '/nowhere',
      AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    expect(await problemOf(opensearch)).toBe(
      'OPENSEARCH_AWS_REGION: the AWS SDK finds no credentials to sign requests with.',
    );
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
});
