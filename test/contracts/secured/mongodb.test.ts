import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectMongo } from '../../../activities/stores/mongo/connect-mongo.js';
import { accessProblemOf } from '../../../schemas/engine-access.js';
import { makeAuthorities } from '../../support/certificates.js';
import type { Authorities } from '../../support/certificates.js';
import { openTlsProxy, targetOf } from '../../support/tls-proxy.js';
import type { TlsProxy } from '../../support/tls-proxy.js';

/** The real server behind a proxy that ends TLS; `test/secured` asks one that ends it itself, with accounts. */
let authorities: Authorities;
let proxy: TlsProxy;
beforeAll(async () => {
  authorities = makeAuthorities();
  const target = targetOf(process.env['MONGODB_URL']!);
  proxy = await openTlsProxy({ target, authority: authorities.own, wantsClient: true });
});
afterAll(async () => {
  await proxy.close();
  authorities.close();
});

function urlOf(client: string | null): string {
  const file = client === null ? '' : `&tlsCertificateKeyFile=${encodeURIComponent(client)}`;
  return `mongodb://127.0.0.1:${proxy.port}/?directConnection=true&serverSelectionTimeoutMS=2000${file}`;
}

/** Certificate and key in one file, as MongoDB's drivers take them. */
async function clientFile(name: string, authority = authorities.own): Promise<string> {
  const { readFileSync, writeFileSync } = await import('node:fs');
  const { certificate, key } = authority.issue(name);
  const file = `${authorities.folder}/${name}-both.pem`;
  writeFileSync(file, Buffer.concat([readFileSync(certificate), readFileSync(key)]));
  return file;
}

async function problemOf(ca: string, client: string | null): Promise<string | undefined> {
  const failure: unknown = await connectMongo({ url: urlOf(client), database: 'admin', ca }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  return accessProblemOf(failure)?.message;
}

test('MONGODB_CA_FILE turns TLS on; other options of TLS stand in the URL', async () => {
  const url = urlOf(await clientFile('tamis'));
  const connection = await connectMongo({ url, database: 'admin', ca: authorities.own.ca });
  try {
    await connection.ping();
  } finally {
    await connection.close();
  }
});

test('certificates that do not fit give one sentence that names the variable', async () => {
  expect(await problemOf(authorities.foreign.ca, await clientFile('tamis'))).toBe(
    'MONGODB_CA_FILE: none of its certificates signs the certificate of MongoDB.',
  );
  expect(await problemOf(authorities.own.ca, null)).toMatch(
    /^MONGODB_URL, tlsCertificateKeyFile: MongoDB wants a client certificate/,
  );
});

test('a file that cannot be read, or holds no certificate, is named before anything is connected', async () => {
  const connect = (ca: string) => connectMongo({ url: urlOf(null), database: 'admin', ca });
  await expect(connect('/nowhere/ca.pem')).rejects.toThrow('MONGODB_CA_FILE: /nowhere/ca.pem cannot be read');
  await expect(connect('package.json')).rejects.toThrow('is not PEM');
});
