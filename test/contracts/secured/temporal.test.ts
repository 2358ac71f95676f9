import { createSecureServer } from 'node:http2';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectTemporal } from '../../../api/temporal.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { accessProblemOf } from '../../../schemas/engine-access.js';
import { makeAuthorities, readTls } from '../../support/certificates.js';
import type { Authorities, Certificate } from '../../support/certificates.js';
import { certificateFaults, temporalProblems } from '../../support/temporal-problems.js';
import { openTlsProxy, targetOf } from '../../support/tls-proxy.js';
import type { TlsProxy } from '../../support/tls-proxy.js';
import { listenOnLoopback } from '../../support/loopback-server.js';

/** The development server, which speaks no TLS, behind a proxy that ends it; `test/secured` asks one that does. */
let authorities: Authorities;
let proxy: TlsProxy;
let client: Certificate;
beforeAll(async () => {
  authorities = makeAuthorities();
  client = authorities.own.issue('tamis');
  proxy = await openTlsProxy({
    target: targetOf(process.env['TEMPORAL_ADDRESS']!),
    authority: authorities.own,
    hosts: ['temporal.internal'],
    wantsClient: true,
    protocols: ['h2'],
  });
});
afterAll(async () => {
  await proxy.close();
  authorities.close();
});

type Environment = Record<string, string>;

function environment(changes: Environment = {}): Environment {
  return {
    TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}`,
    TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authorities.own.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: client.certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
    ...changes,
  };
}

test('gateway and worker show a certificate of their own and expect the name that they are told', async () => {
  expect(await temporalProblems(environment(), { makesNamespace: false })).toEqual([undefined, undefined]);
});

test('what does not fit gives one sentence that names the variable, in both processes', async () => {
  const table: [Environment, RegExp][] = [
    ...certificateFaults(authorities),
    [
      { TEMPORAL_NAMESPACE: 'nobody-made-it' },
      /^TEMPORAL_NAMESPACE: Temporal has no namespace nobody-made-it/,
    ],
  ];
  for (const [changes, sentence] of table) {
    const [gateway, worker] = await temporalProblems(environment(changes), { makesNamespace: false });
    expect(gateway).toMatch(sentence);
    // The worker makes a namespace once it is connected.
    if (!('TEMPORAL_NAMESPACE' in changes)) expect(worker).toMatch(sentence);
  }
});

test('a key goes along with every call over TLS, and one that is refused is named', async () => {
  const seen: (string | undefined)[] = [];
  const server = createSecureServer(readTls(authorities.own.ca, authorities.own.issue('cloud')));
  server.on('stream', (stream, headers) => {
    seen.push(headers.authorization);
    const known = headers.authorization === 'Bearer the-right-key';
    // A gRPC answer without a message: 7 is PERMISSION_DENIED, 12 UNIMPLEMENTED.
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': known ? '12' : '7' },
      { endStream: true },
    );
  });
  const { port } = await listenOnLoopback(server);
  const ask = async (key: string) => {
    const workflows = connectTemporal(
      parseConfig({
        TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: authorities.own.ca,
        TEMPORAL_API_KEY: key,
      }),
    );
    try {
      return await workflows.ping().catch((error: unknown) => error);
    } finally {
      await workflows.close();
    }
  };
  try {
    expect(accessProblemOf(await ask('another-key'))?.message).toBe(
      'TEMPORAL_API_KEY: Temporal refuses this key for the namespace default.',
    );
    expect(accessProblemOf(await ask('the-right-key'))).toBeUndefined();
    expect(new Set(seen)).toEqual(new Set(['Bearer another-key', 'Bearer the-right-key']));
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
