import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';
import { accessProblemOf } from '../../schemas/engine-access.js';
import { makeAuthorities } from '../support/certificates.js';
import type { Authorities } from '../support/certificates.js';
import { closer } from './support/engine-process.js';
import { startSecuredMongodb } from './support/secured-mongodb.js';
import type { SecuredMongodb } from './support/secured-mongodb.js';

const ACCOUNT = { user: 'gateway', password: 'a password: with/@ signs' };

const closing = closer();
let authorities: Authorities;
let engine: SecuredMongodb;
beforeAll(async () => {
  authorities = makeAuthorities();
  closing.add(() => authorities.close());
  engine = await startSecuredMongodb(authorities, ACCOUNT);
  closing.add(() => engine.close());
}, 300_000);
afterAll(() => closing.all(), 60_000);

async function problemOf(url: string, ca: string | null = authorities.own.ca): Promise<string | undefined> {
  const failure: unknown = await connectMongo({ url, database: 'tamis-secured', ca }).catch(
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) {
    const connection = failure as Awaited<ReturnType<typeof connectMongo>>;
    const ping: unknown = await connection.ping().catch((error: unknown) => error);
    await connection.close();
    return ping === undefined ? undefined : (accessProblemOf(ping)?.message ?? `ping: ${String(ping)}`);
  }
  expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  return accessProblemOf(failure)?.message ?? `no sentence: ${String(failure.cause)}`;
}

test('an account of its own, over TLS with a certificate on both sides, reads and writes', async () => {
  const connection = await connectMongo({
    url: engine.urlOf(ACCOUNT),
    database: 'tamis-secured',
    ca: authorities.own.ca,
  });
  try {
    const records = connection.db.collection<{ _id: string; of: string }>('records');
    await records.insertOne({ _id: 'one', of: 'tamis' });
    expect(await records.findOne({ _id: 'one' })).toEqual({ _id: 'one', of: 'tamis' });
  } finally {
    await connection.close();
  }
});

test('what does not fit gives one sentence that names the variable', async () => {
  const refused = /^MONGODB_URL: MongoDB refuses its user or password/;
  const table: [string | undefined, RegExp][] = [
    [await problemOf(engine.urlOf({ ...ACCOUNT, password: 'another' })), refused],
    [await problemOf(engine.urlOf({ ...ACCOUNT, user: 'nobody' })), refused],
    [await problemOf(engine.urlOf({})), /^MONGODB_URL: its user, or a client without one, may not use/],
    [
      await problemOf(engine.urlOf(ACCOUNT), authorities.foreign.ca),
      /^MONGODB_CA_FILE: none of its certificates signs the certificate of MongoDB\.$/,
    ],
    [
      await problemOf(engine.urlOf({ ...ACCOUNT, clientFile: null })),
      /^MONGODB_URL, tlsCertificateKeyFile: MongoDB wants a client certificate/,
    ],
    [
      await problemOf(engine.urlOf({ ...ACCOUNT, clientFile: null }), null),
      /^MONGODB_URL: the server hung up/,
    ],
  ];
  for (const [sentence, expected] of table) expect(sentence).toMatch(expected);
});
