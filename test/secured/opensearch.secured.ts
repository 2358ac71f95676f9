import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { parseConfig } from '../../schemas/config/config.js';
import { accessProblemOf } from '../../schemas/engine-access.js';
import { makeAuthorities } from '../support/certificates.js';
import type { Authorities } from '../support/certificates.js';
import { closer } from './support/engine-process.js';
import { startSecuredOpenSearch } from './support/secured-opensearch.js';
import type { SecuredOpenSearch } from './support/secured-opensearch.js';

const PASSWORD = 'a Password: with 2 colons, and ünusual letters';

const closing = closer();
let authorities: Authorities;
let engine: SecuredOpenSearch;
beforeAll(async () => {
  authorities = makeAuthorities();
  closing.add(() => authorities.close());
  engine = await startSecuredOpenSearch(authorities);
  closing.add(() => engine.close());
  await engine.addUser('tamis', PASSWORD, {
    cluster_permissions: ['cluster_monitor'],
    index_permissions: [{ index_patterns: ['tamis-*'], allowed_actions: ['indices_all'] }],
  });
}, 300_000);
afterAll(() => closing.all(), 60_000);

/** What a gateway or worker with these variables says of it; undefined: it can be used. */
async function problemOf(changes: Record<string, string> = {}): Promise<string | undefined> {
  const client = authorities.own.issue('tamis');
  const { opensearch } = parseConfig({
    OPENSEARCH_URL: engine.url,
    OPENSEARCH_USERNAME: 'tamis',
    OPENSEARCH_PASSWORD: PASSWORD,
    OPENSEARCH_CA_FILE: authorities.own.ca,
    OPENSEARCH_CLIENT_CERT_FILE: client.certificate,
    OPENSEARCH_CLIENT_KEY_FILE: client.key,
    ...changes,
  });
  const connection = connectOpenSearch(opensearch);
  try {
    await connection.ping();
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
    return accessProblemOf(error)?.message ?? `no sentence: ${String((error as Error).cause)}`;
  } finally {
    await connection.close();
  }
}

test('a user of its own, by name and password, over TLS with a certificate on both sides', async () => {
  expect(await problemOf()).toBeUndefined();
});

test('what does not fit gives one sentence that names the variable', async () => {
  const stranger = authorities.foreign.issue('stranger');
  const refused =
    'OPENSEARCH_USERNAME, OPENSEARCH_PASSWORD: OpenSearch refuses this user or password, or wants one.';
  const table: [Record<string, string>, string | RegExp][] = [
    [{ OPENSEARCH_PASSWORD: 'another' }, refused],
    [{ OPENSEARCH_USERNAME: 'nobody' }, refused],
    [
      { OPENSEARCH_CA_FILE: authorities.foreign.ca },
      'OPENSEARCH_CA_FILE: none of its certificates signs the certificate of OpenSearch.',
    ],
    [
      { OPENSEARCH_CLIENT_CERT_FILE: '', OPENSEARCH_CLIENT_KEY_FILE: '' },
      /^OPENSEARCH_CLIENT_CERT_FILE: OpenSearch wants a client certificate/,
    ],
    [
      {
        OPENSEARCH_CLIENT_CERT_FILE: stranger.certificate,
        OPENSEARCH_CLIENT_KEY_FILE: stranger.key,
      },
      /^OPENSEARCH_CLIENT_CERT_FILE: OpenSearch wants a client certificate/,
    ],
    [{ OPENSEARCH_URL: engine.url.replace('https:', 'http:') }, /^OPENSEARCH_URL: the server hung up/],
  ];
  for (const [changes, sentence] of table) expect(await problemOf(changes)).toMatch(sentence);
});

test('a right that a user does not have is named when it is asked for', async () => {
  await engine.addUser('reader', PASSWORD, {
    cluster_permissions: ['cluster_monitor'],
    index_permissions: [{ index_patterns: ['tamis-*'], allowed_actions: ['read'] }],
  });
  const { opensearch } = parseConfig({
    OPENSEARCH_URL: engine.url,
    OPENSEARCH_USERNAME: 'reader',
    OPENSEARCH_PASSWORD: PASSWORD,
    OPENSEARCH_CA_FILE: authorities.own.ca,
    OPENSEARCH_CLIENT_CERT_FILE: authorities.own.issue('reader').certificate,
    OPENSEARCH_CLIENT_KEY_FILE: authorities.own.issue('reader').key,
  });
  const connection = connectOpenSearch(opensearch);
  try {
    const failure: unknown = await connection.client
      .request('PUT', '/tamis-of-a-reader', { body: {} })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
    expect(accessProblemOf(failure)?.message).toMatch(/indices:admin\/create/);
  } finally {
    await connection.close();
  }
});
