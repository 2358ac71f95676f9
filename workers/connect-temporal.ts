import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NativeConnection } from '@temporalio/worker';
import { temporalDataConverter } from '../activities/temporal/data-converter.js';
import { attributingInterceptors } from '../activities/temporal/search-attributes.js';
import {
  handshakeProblem,
  isNamespaceMissing,
  isRefused,
  temporalConnection,
  temporalProblem,
} from '../activities/temporal/temporal-access.js';
import type { Config } from '../schemas/config/config.js';
import { AccessProblem } from '../schemas/engine-access.js';

/** The servers read their list of namespaces every ten seconds, and use a new one only then. */
const NAMESPACE_READY_MS = 60_000;
const ASK_EVERY_MS = 500;
/** gRPC's number of it: another worker was faster. */
const ALREADY_EXISTS = 6;

/**
 * The two connections of a worker: the SDK's workers poll over one, its client goes over the other.
 * @throws ConfigError when a file of certificates cannot be read; AccessProblem when Temporal turns us away
 */
export async function connectTemporal(
  temporal: Config['temporal'],
): Promise<{ connection: NativeConnection; clientConnection: Connection }> {
  const options = temporalConnection(temporal);
  // Within a second, where the SDK tries for ten and says nothing.
  const problem = await handshakeProblem(temporal);
  if (problem !== undefined) throw problem;
  try {
    const clientConnection = await Connection.connect(options);
    return { clientConnection, connection: await NativeConnection.connect(options) };
  } catch (error) {
    throw temporalProblem(error, temporal) ?? error;
  }
}

/** What a worker starts by itself, it starts by this. */
export function createClient(
  connection: Connection,
  config: Pick<Config, 'temporal' | 'secretsKey' | 'formerSecretsKeys'>,
): Client {
  const attributing = attributingInterceptors(config.temporal);
  return new Client({
    connection,
    namespace: config.temporal.namespace,
    dataConverter: temporalDataConverter(config),
    interceptors: { workflow: [attributing.workflow], schedule: [attributing.schedule] },
  });
}

/**
 * Makes the namespace of the workflows where it is missing, and waits until it can be used.
 * @param onMade told its name once it was made
 * @throws AccessProblem when it is missing and may not be made, or when Temporal turns us away
 */
export async function ensureNamespace(
  connection: Connection,
  temporal: Pick<Config['temporal'], 'address' | 'namespace' | 'namespaceRetentionDays' | 'tls' | 'apiKey'>,
  onMade: (namespace: string) => void = () => undefined,
): Promise<void> {
  const { namespace, namespaceRetentionDays } = temporal;
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return;
  } catch (error) {
    if (!isNamespaceMissing(error)) throw temporalProblem(error, temporal) ?? error;
  }
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(namespaceRetentionDays * 86_400_000),
      description: 'Workflows of Tamis',
    });
  } catch (error) {
    if (isRefused(error))
      throw new AccessProblem(
        `TEMPORAL_NAMESPACE: Temporal has no namespace ${namespace}, and these credentials may not make it.`,
        { cause: error },
      );
    if (!isGrpcServiceError(error) || (error.code as number) !== ALREADY_EXISTS) throw error;
  }
  await untilUsable(connection, namespace);
  onMade(namespace);
}

/** A namespace that was just made is described before it can be used. */
async function untilUsable(connection: Connection, namespace: string): Promise<void> {
  const end = Date.now() + NAMESPACE_READY_MS;
  for (;;) {
    try {
      await connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
      return;
    } catch (error) {
      if (!isNamespaceMissing(error) || Date.now() > end) throw error;
    }
    await pause(ASK_EVERY_MS);
  }
}
