import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeAuthorities } from '../support/certificates.js';
import type { Authorities, Certificate } from '../support/certificates.js';
import { certificateFaults, temporalProblems } from '../support/temporal-problems.js';
import { closer } from './support/engine-process.js';
import { SERVER_NAME, startSecuredTemporal } from './support/secured-temporal.js';
import type { SecuredTemporal } from './support/secured-temporal.js';

const closing = closer();
let authorities: Authorities;
let client: Certificate;
let engine: SecuredTemporal;
beforeAll(async () => {
  authorities = makeAuthorities();
  closing.add(() => authorities.close());
  client = authorities.own.issue('tamis');
  engine = await startSecuredTemporal(authorities);
  closing.add(() => engine.close());
}, 300_000);
afterAll(() => closing.all(), 60_000);

type Environment = Record<string, string>;

function environment(changes: Environment = {}): Environment {
  return {
    TEMPORAL_ADDRESS: engine.address,
    TEMPORAL_TLS_SERVER_NAME: SERVER_NAME,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authorities.own.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: client.certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
    TEMPORAL_API_KEY: engine.issueKey(['default:write']),
    ...changes,
  };
}

test('gateway and worker come in with a certificate, a key and the name that they expect', async () => {
  expect(await temporalProblems(environment(), { makesNamespace: true })).toEqual([undefined, undefined]);
});

test('what does not fit gives one sentence that names the variable, in both processes', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const refusedKey = 'TEMPORAL_API_KEY: Temporal refuses this key for the namespace default.';
  const table: [Environment, RegExp | string][] = [
    ...certificateFaults(authorities),
    [{ TEMPORAL_API_KEY: engine.issueKey(['default:write'], privateKey) }, refusedKey],
    [{ TEMPORAL_API_KEY: engine.issueKey(['another:write']) }, refusedKey],
    [
      { TEMPORAL_API_KEY: '' },
      'TEMPORAL_API_KEY: Temporal wants a key or other credentials for the namespace default.',
    ],
  ];
  for (const [changes, sentence] of table) {
    const [gateway, worker] = await temporalProblems(environment(changes), { makesNamespace: true });
    expect([changes, gateway]).toEqual([changes, expect.stringMatching(sentence)]);
    expect([changes, worker]).toEqual([changes, expect.stringMatching(sentence)]);
  }
});
