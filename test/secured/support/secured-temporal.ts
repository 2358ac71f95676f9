import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { Authorities } from '../../support/certificates.js';
import { readTls } from '../../support/certificates.js';
import { freePort } from '../../support/free-port.js';
import { closer, engineFolder, programOf, removeFolder, startEngine } from './engine-process.js';
import { listenOnLoopback } from '../../support/loopback-server.js';

/** The name in its certificate, which is not that of its address. */
export const SERVER_NAME = 'temporal.internal';
const KEY_ID = 'of-the-test';

export interface SecuredTemporal {
  address: string;
  /** A key with these permissions (`NAMESPACE:ROLE`), by default signed by whom the server trusts. */
  issueKey(permissions: readonly string[], signer?: KeyObject): string;
  close(): Promise<void>;
}

/** Temporal's own server: mutual TLS between client and frontend and among its services, and keys that it checks. */
export async function startSecuredTemporal(authorities: Authorities): Promise<SecuredTemporal> {
  const closing = closer();
  const folder = engineFolder('temporal');
  closing.add(() => removeFolder(folder));
  try {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = await publishKeys(publicKey);
    closing.add(() => keys.close());
    const frontend = await freePort();
    mkdirSync(join(folder, 'config'));
    const config = await serverConfig(authorities, frontend, keys.url);
    // JSON is YAML
    writeFileSync(join(folder, 'config/secured.yaml'), JSON.stringify(config));
    const services = Object.keys(config.services).flatMap((name) => ['--service', name]);
    const address = `127.0.0.1:${frontend}`;
    const issueKey: SecuredTemporal['issueKey'] = (permissions, signer = privateKey) =>
      token({ sub: 'tamis', permissions, exp: Math.floor(Date.now() / 1000) + 86_400 }, signer);
    const { ca, cert, key } = readTls(authorities.own.ca, authorities.own.issue('system'));
    const tls = {
      serverNameOverride: SERVER_NAME,
      serverRootCACertificate: ca,
      clientCertPair: { crt: cert, key },
    };
    const engine = await startEngine(
      'temporal',
      folder,
      {
        command: programOf('SECURED_TEMPORAL'),
        args: ['--root', folder, '--config', 'config', '--env', 'secured', 'start', ...services],
        cwd: folder,
        env: {},
      },
      async () => {
        const apiKey = issueKey(['temporal-system:admin']);
        const connection = await Connection.connect({ address, tls, apiKey, connectTimeout: '2s' });
        try {
          await makeDefaultNamespace(connection);
          return true;
        } finally {
          await connection.close();
        }
      },
    );
    closing.add(() => engine.close());
    return { address, issueKey, close: () => closing.all() };
  } catch (error) {
    await closing.all();
    throw error;
  }
}

/** As its operator does once; it is there when it can be described. */
async function makeDefaultNamespace({ workflowService }: Connection): Promise<void> {
  const namespace = 'default';
  try {
    await workflowService.describeNamespace({ namespace });
  } catch {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(86_400_000),
    });
    await workflowService.describeNamespace({ namespace });
  }
}

async function serverConfig({ own }: Authorities, frontend: number, keys: string) {
  const { certificate: certFile, key: keyFile } = own.issue('temporal', [SERVER_NAME]);
  const server = { certFile, keyFile, requireClientAuth: true, clientCaFiles: [own.ca] };
  const client = { serverName: SERVER_NAME, rootCaFiles: [own.ca] };
  const rpc = async (grpcPort?: number) => ({
    rpc: {
      grpcPort: grpcPort ?? (await freePort()),
      membershipPort: await freePort(),
      bindOnLocalHost: true,
    },
  });
  const store = {
    sql: {
      pluginName: 'sqlite',
      databaseName: 'default',
      connectAddr: 'localhost',
      connectProtocol: 'tcp',
      connectAttributes: { mode: 'memory', cache: 'private' },
      maxConns: 1,
      maxIdleConns: 1,
      maxConnLifetime: '24h',
    },
  };
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'records',
      visibilityStore: 'visibility',
      numHistoryShards: 1,
      datastores: { records: store, visibility: store },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      tls: {
        internode: { server, client },
        frontend: { server, client },
        systemWorker: { certFile, keyFile, client },
      },
      authorization: {
        jwtKeyProvider: { keySourceURIs: [keys], refreshInterval: '1m' },
        permissionsClaimName: 'permissions',
        authorizer: 'default',
        claimMapper: 'default',
      },
    },
    services: {
      frontend: await rpc(frontend),
      // The server's own workers hold no key: they come in by a door of their own.
      'internal-frontend': await rpc(),
      matching: await rpc(),
      history: await rpc(),
      worker: await rpc(),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `localhost:${frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
  };
}

/** The public key as a JSON Web Key Set, where the server fetches it. */
async function publishKeys(publicKey: KeyObject): Promise<{ url: string; close(): Promise<unknown> }> {
  const key = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'ES256' };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: [key] }));
  });
  const { url } = await listenOnLoopback(server);
  return {
    url: `${url}/keys.json`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** A JSON Web Token signed with ES256 (RFC 7515, RFC 7518 section 3.4). */
function token(claims: object, key: KeyObject): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256', typ: 'JWT', kid: KEY_ID })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
