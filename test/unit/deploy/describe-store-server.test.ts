import { expect, test } from '@jest/globals';
import { describeStoreServer, nameOf } from '../../../deploy/local/describe-store-server.js';

test('a server is named by what it says of itself', () => {
  expect(nameOf({ version: '8.0.4' })).toBe('MongoDB 8.0.4');
  expect(nameOf({ version: '7.0.77', ferretdb: { version: 'v2.7.0' } })).toBe(
    'FerretDB 2.7.0 on DocumentDB (as MongoDB 7.0.77)',
  );
});

test('one that does not answer is said to', async () => {
  const asked = describeStoreServer('mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=100');
  await expect(asked).rejects.toThrow('does not answer');
  await expect(describeStoreServer(undefined)).rejects.toThrow('no server');
}, 20_000);
