import { expect, test } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import { isDuplicateKey } from '../../../activities/stores/mongo/mongo-errors.js';

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
