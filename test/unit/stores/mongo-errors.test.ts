import { expect, test } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import type { AppError } from '../../../schemas/app-error.js';
import {
  isDeadlock,
  isDuplicateKey,
  toMongoAppError,
} from '../../../activities/stores/mongo/mongo-errors.js';

test.each([
  [
    'MongoDB',
    { code: 11000, errmsg: 'E11000 duplicate key error collection: tamis.users index: email_key_1' },
  ],
  ['FerretDB', { code: 11000, errmsg: "Duplicate key violation on the requested collection: Index '_id_'" }],
  [
    'FerretDB in findAndModify',
    { code: 1, errmsg: 'conflicting key value violates exclusion constraint "documents_rum_index_29"' },
  ],
  [
    'FerretDB in findAndModify, on the _id',
    { code: 1, errmsg: 'duplicate key value violates unique constraint "collection_pk_6"' },
  ],
])('%s tells of a taken unique key', (_server, reply) => {
  expect(isDuplicateKey(new MongoServerError(reply))).toBe(true);
});

test.each([
  ['another failure of FerretDB', { code: 1, errmsg: 'out of shared memory' }],
  [
    'a text of a client in a failure of FerretDB',
    { code: 1, errmsg: 'bad value "duplicate key value violates unique constraint"' },
  ],
  [
    'the same words under another code',
    { code: 2, errmsg: 'duplicate key value violates unique constraint' },
  ],
])('%s is no taken key', (_what, reply) => {
  expect(isDuplicateKey(new MongoServerError(reply))).toBe(false);
});

test('an error that is not a reply of the server is no taken key', () => {
  expect(isDuplicateKey(Object.assign(new Error('E11000'), { code: 11000 }))).toBe(false);
});

test.each([
  ['FerretDB', { code: 16908292, errmsg: 'deadlock detected' }],
  ['FerretDB in findAndModify', { code: 1, errmsg: 'deadlock detected' }],
  ['FerretDB, serialized', { code: 16777220, errmsg: 'could not serialize access due to concurrent update' }],
])('%s tells of a deadlock', (_server, reply) => {
  expect(isDeadlock(new MongoServerError(reply))).toBe(true);
  expect(isDuplicateKey(new MongoServerError(reply))).toBe(false);
});

test.each([
  ['MongoDB steps down', { code: 189, errmsg: 'not primary' }, 'SERVICE_UNAVAILABLE'],
  ['PostgreSQL was killed', { code: 1, errmsg: 'unexpected EOF' }, 'SERVICE_UNAVAILABLE'],
  [
    'PostgreSQL is stopped',
    { code: 1, errmsg: 'terminating connection due to administrator command' },
    'SERVICE_UNAVAILABLE',
  ],
  [
    'PostgreSQL is stopped, by its own code',
    { code: 16908741, errmsg: 'terminating connection due to administrator command' },
    'SERVICE_UNAVAILABLE',
  ],
  [
    'PostgreSQL recovers',
    { code: 1, errmsg: 'the database system is not yet accepting connections' },
    'SERVICE_UNAVAILABLE',
  ],
  [
    'PostgreSQL is not there',
    {
      code: 1,
      errmsg:
        'msg_find.go:58 (handler.(*Handler).msgFind): pool_cursors.go:41 (documentdb.(*Pool).Find): pool.go:90 ' +
        '(documentdb.(*Pool).Acquire): failed to connect to `user=postgres database=postgres`:\n\t127.0.0.1:5432',
    },
    'SERVICE_UNAVAILABLE',
  ],
  ['a failure of FerretDB', { code: 1, errmsg: 'unexpected value' }, 'STORAGE_ERROR'],
  ['a refused update', { code: 40, errmsg: 'would create a conflict' }, 'STORAGE_ERROR'],
])('%s (%j) becomes %s', (_what, reply, code) => {
  expect((toMongoAppError(new MongoServerError(reply)) as AppError).code).toBe(code);
});
