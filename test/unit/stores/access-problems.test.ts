import { expect, test } from '@jest/globals';
import { errors } from '@opensearch-project/opensearch';
import { MongoServerSelectionError } from 'mongodb';
import { plainMongoProblem } from '../../../activities/stores/mongo/mongo-errors.js';
import {
  openSearchProblem,
  plainProblem,
  toVdbError,
} from '../../../activities/stores/opensearch/opensearch-errors.js';
import { tlsProblem } from '../../../schemas/engine-access.js';

const NAMES = { engine: 'It', address: 'URL', ca: 'CA_FILE', certificate: 'CERT_FILE' };

/** As the client throws it. */
function forbidden(body: Record<string, unknown>): errors.ResponseError {
  return new errors.ResponseError({ body, statusCode: 403, headers: {}, warnings: null, meta: {} as never });
}

/** The security plugin's answer is 403. */
function refusedFor(reason: string): errors.ResponseError {
  return forbidden({ error: { type: 'security_exception', reason, root_cause: [] }, status: 403 });
}

test.each([
  ['indices:admin/create', 'no permissions for [indices:admin/create] and User [name=a]'],
  ['indices:data/write/bulk[s]', 'no permissions for [indices:data/write/bulk[s]] and User [name=a]'],
  [
    'indices:data/write/delete, indices:data/write/bulk[s]',
    'no permissions for [indices:data/write/delete, indices:data/write/bulk[s]] and User [name=a]',
  ],
  [
    'indices:monitor/stats',
    'no permissions for [indices:monitor/stats] and associated roles [tamis] of User [name=a]',
  ],
])('the right %s that a user misses is named, whoever logs it in', (right, reason) => {
  expect(openSearchProblem(refusedFor(reason), { username: 'a' })?.message).toBe(
    `OPENSEARCH_USERNAME, OPENSEARCH_PASSWORD: this user may not do in OpenSearch what Tamis needs (${right}).`,
  );
  expect(openSearchProblem(refusedFor(reason), { aws: { region: 'here' } })?.message).toContain(
    `(${right}).`,
  );
});

test('a refusal that names no right is told without one', () => {
  expect(openSearchProblem(refusedFor('no permissions for [all of it'), {})?.message).toMatch(
    /Tamis needs\.$/,
  );
  expect(openSearchProblem(refusedFor('forbidden'), {})?.message).toMatch(/Tamis needs\.$/);
});

test.each([
  ['a write', (cause: object) => ({ error: cause, status: 403 })],
  ['a deletion of what a query finds', (cause: object) => ({ failures: [{ cause, status: 403 }] })],
])('%s that meets a blocked index is for later and no matter of rights', (_what, bodyOf) => {
  const reason = 'index [chunks-v3] blocked by: [FORBIDDEN/8/index write (api)];';
  const error = forbidden(bodyOf({ type: 'cluster_block_exception', reason }));
  expect(openSearchProblem(error, { username: 'a' })).toBeUndefined();
  expect(toVdbError(error, 'VDB_DELETE_ERROR')).toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
});

test('a server that hangs up on a plain client may want TLS; one of another address is away', () => {
  const hangUp = new errors.ConnectionError('socket hang up', {} as never);
  expect(plainProblem(hangUp, 'http://engine:9200')?.message).toMatch(/^OPENSEARCH_URL: .*it wants https\.$/);
  expect(plainProblem(hangUp, 'https://engine:9200')).toBeUndefined();
  const refused = new errors.ConnectionError('connect ECONNREFUSED', {} as never);
  expect(plainProblem(refused, 'http://engine:9200')).toBeUndefined();
  const noServer = (words: string) => new MongoServerSelectionError(words, {} as never);
  expect(plainMongoProblem(noServer('connection <monitor> to 127.0.0.1:1 closed'))?.message).toMatch(
    /^MONGODB_URL: .*tls=true/,
  );
  expect(plainMongoProblem(noServer('connect ECONNREFUSED 127.0.0.1:1'))).toBeUndefined();
});

test.each([
  'error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:SSL alert number 42',
  'error:0A000416:SSL routines:ssl3_read_bytes:sslv3 alert certificate unknown:SSL alert number 46',
  'error:0A000418:SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca:SSL alert number 48',
  'error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116',
  'received fatal alert: CertificateUnknown',
  'received fatal alert: AccessDenied',
])('%s is about our certificate', (words) => {
  expect(tlsProblem(new Error(words), NAMES)?.message).toMatch(/^CERT_FILE: It wants a client certificate/);
});

test.each(['AccessDenied: not allowed to read the bucket', 'SSL alert number 47', 'getaddrinfo ENOTFOUND'])(
  '%s is not',
  (words) => {
    expect(tlsProblem(new Error(words), NAMES)).toBeUndefined();
  },
);
