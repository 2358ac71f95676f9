import { connectTemporal } from '../../api/temporal.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { Config } from '../../schemas/config/config.js';
import { accessProblemOf } from '../../schemas/engine-access.js';
import { connectTemporal as connectWorker, ensureNamespace } from '../../workers/connect-temporal.js';
import type { Authorities } from './certificates.js';

type Environment = Record<string, string>;

/** What a gateway says that asks Temporal, and a worker that starts; undefined: nothing is the matter. */
export async function temporalProblems(
  environment: Environment,
  { makesNamespace }: { makesNamespace: boolean },
): Promise<(string | undefined)[]> {
  const config = parseConfig(environment);
  const workflows = connectTemporal(config);
  const gateway: unknown = await workflows.ping().catch((error: unknown) => error);
  await workflows.close();
  const worker: unknown = await startOfWorker(config, makesNamespace).catch((error: unknown) => error);
  return [gateway, worker].map((outcome) =>
    outcome instanceof Error
      ? (accessProblemOf(outcome)?.message ?? `no sentence: ${outcome.message}`)
      : undefined,
  );
}

async function startOfWorker({ temporal }: Config, makesNamespace: boolean): Promise<void> {
  const { connection, clientConnection } = await connectWorker(temporal);
  try {
    if (makesNamespace) await ensureNamespace(clientConnection, temporal);
  } finally {
    await Promise.all([connection.close(), clientConnection.close()]);
  }
}

/** Variables that do not fit a server with a name of its own that asks for certificates, and what is said of each. */
export function certificateFaults({ foreign }: Authorities): [Environment, RegExp][] {
  const stranger = foreign.issue('stranger');
  return [
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: foreign.ca },
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
  ];
}
