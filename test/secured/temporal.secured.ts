import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectTemporal } from '../../api/temporal.js';
import { parseConfig } from '../../schemas/config/config.js';
import { accessProblemOf } from '../../schemas/engine-access.js';
import { connectTemporal as connectWorker, ensureNamespace } from '../../workers/connect-temporal.js';
import { makeAuthorities } from '../support/certificates.js';
import type { Authorities, Certificate } from '../support/certificates.js';
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

/** What a gateway says that asks Temporal, and a worker that starts; undefined: nothing is the matter. */
async function problems(env: Environment): Promise<(string | undefined)[]> {
  const config = parseConfig(env);
  const workflows = connectTemporal(config);
  const gateway: unknown = await workflows.ping().catch((error: unknown) => error);
  await workflows.close();
  const worker: unknown = await startOfWorker(config).catch((error: unknown) => error);
  return [gateway, worker].map((outcome) =>
    outcome instanceof Error
      ? (accessProblemOf(outcome)?.message ?? `no sentence: ${outcome.message}`)
      : undefined,
  );
}

async function startOfWorker({ temporal }: ReturnType<typeof parseConfig>): Promise<void> {
  const { connection, clientConnection } = await connectWorker(temporal);
  try {
    await ensureNamespace(clientConnection, temporal);
  } finally {
    await Promise.all([connection.close(), clientConnection.close()]);
  }
}

test('gateway and worker come in with a certificate, a key and the name that they expect', async () => {
  expect(await problems(environment())).toEqual([undefined, undefined]);
});

test('what does not fit gives one sentence that names the variable, in both processes', async () => {
  const stranger = authorities.foreign.issue('stranger');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const refusedKey = 'TEMPORAL_API_KEY: Temporal refuses this key for the namespace default.';
  const table: [Environment, RegExp | string][] = [
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authorities.foreign.ca },
      /^TEMPORAL_TLS_SERVER_CA_CERT_PATH: none of its certificates signs the certificate of Temporal\.$/,
    ],
    [
      { TEMPORAL_TLS_SERVER_NAME: '' },
      /^TEMPORAL_TLS_SERVER_NAME: the certificate of Temporal is for another name\.$/,
    ],
    [
      { TEMPORAL_TLS_CLIENT_CERT_PATH: stranger.certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: stranger.key },
      /^TEMPORAL_TLS_CLIENT_CERT_PATH: Temporal (wants|hangs up)/,
    ],
    [
      { TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' },
      /^TEMPORAL_TLS_CLIENT_CERT_PATH: Temporal wants a client certificate/,
    ],
    [{ TEMPORAL_TLS: 'false' }, /^TEMPORAL_TLS: /],
    [{ TEMPORAL_API_KEY: engine.issueKey(['default:write'], privateKey) }, refusedKey],
    [{ TEMPORAL_API_KEY: engine.issueKey(['another:write']) }, refusedKey],
    [
      { TEMPORAL_API_KEY: '' },
      'TEMPORAL_API_KEY: Temporal wants a key or other credentials for the namespace default.',
    ],
  ];
  for (const [changes, sentence] of table) {
    const [gateway, worker] = await problems(environment(changes));
    expect([changes, gateway]).toEqual([changes, expect.stringMatching(sentence)]);
    expect([changes, worker]).toEqual([changes, expect.stringMatching(sentence)]);
  }
});
