import { expect, test } from '@jest/globals';
import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';

test('a server that is away is SERVICE_UNAVAILABLE, within seconds', async () => {
  await expect(connectMongo({ url: 'mongodb://127.0.0.1:9', database: 'none' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
  });
}, 10_000);

test('a URL that cannot be read is CONFIG_ERROR', async () => {
  await expect(connectMongo({ url: 'mongodb://', database: 'none' })).rejects.toMatchObject({
    code: 'CONFIG_ERROR',
  });
});
