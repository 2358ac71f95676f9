import { connect as connectPlain, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Config } from '../../schemas/config/config.js';
import { AccessProblem, causesOf, tlsProblem } from '../../schemas/engine-access.js';
import { loopbackChannel } from '../../schemas/temporal-channel.js';
import { readPem } from '../engine-certificates.js';

type Access = Pick<Config['temporal'], 'address' | 'namespace' | 'tls' | 'apiKey'>;

/** How both of the SDK's connections, the client's and the worker's, are told where Temporal is. */
interface ConnectionOptions {
  address: string;
  tls:
    | false
    | {
        serverNameOverride?: string;
        serverRootCACertificate?: Buffer;
        clientCertPair?: { crt: Buffer; key: Buffer };
      };
  apiKey?: string;
  /** Of the client's alone: the worker's knows no proxy. */
  channelArgs?: { 'grpc.enable_http_proxy': 0 };
}

const NAMES = {
  engine: 'Temporal',
  address: 'TEMPORAL_ADDRESS',
  ca: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  certificate: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
  serverName: 'TEMPORAL_TLS_SERVER_NAME',
};
const KEY = 'TEMPORAL_TLS_CLIENT_KEY_PATH';
/** The SDK's, where an address names none. */
const DEFAULT_PORT = 7233;

/** gRPC's own numbers: https://grpc.io/docs/guides/status-codes/ */
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/**
 * Address, certificates and key. The files are read here, once: a process that is to use new ones is started anew.
 * @throws ConfigError when a file cannot be read
 */
export function temporalConnection({ address, tls, apiKey }: Access): ConnectionOptions {
  const more = { ...(apiKey === null ? {} : { apiKey }), ...loopbackChannel(address) };
  if (tls === null) return { address, tls: false, ...more };
  const ca = readPem(NAMES.ca, tls.ca);
  const crt = readPem(NAMES.certificate, tls.certificate);
  const privateKey = readPem(KEY, tls.key);
  return {
    address,
    tls: {
      ...(tls.serverName !== null && { serverNameOverride: tls.serverName }),
      ...(ca !== undefined && { serverRootCACertificate: ca }),
      ...(crt !== undefined && privateKey !== undefined && { clientCertPair: { crt, key: privateKey } }),
    },
    ...more,
  };
}

function statusOf(error: Error): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

/** Whether the server says that it has no namespace of this name. */
export function isNamespaceMissing(error: unknown): boolean {
  return causesOf(error).some((cause) => statusOf(cause) === NOT_FOUND && /namespace/i.test(cause.message));
}

/** Whether the server says that these credentials may not do this. */
export function isRefused(error: unknown): boolean {
  return causesOf(error).some((cause) => [PERMISSION_DENIED, UNAUTHENTICATED].includes(statusOf(cause) ?? 0));
}

/**
 * Why Temporal turns us away, as its answer says it; undefined: it does not, is away or has another complaint. What a
 * handshake broke off by, the SDK tries again until the call's time is over: `handshakeProblem` finds it.
 */
export function temporalProblem(error: unknown, { apiKey, namespace }: Access): AccessProblem | undefined {
  const problem = (sentence: string): AccessProblem => new AccessProblem(sentence, { cause: error });
  if (isRefused(error))
    return problem(
      apiKey === null
        ? `TEMPORAL_API_KEY: Temporal wants a key or other credentials for the namespace ${namespace}.`
        : `TEMPORAL_API_KEY: Temporal refuses this key for the namespace ${namespace}.`,
    );
  if (isNamespaceMissing(error))
    return problem(
      `TEMPORAL_NAMESPACE: Temporal has no namespace ${namespace}, which a worker makes at its start.`,
    );
  return tlsProblem(error, NAMES);
}

/** A handshake on a machine at work; what takes longer is taken for an engine that is away. */
const HANDSHAKE_MS = 1000;
/** What an HTTP/2 client says first (RFC 9113, section 3.4), with an empty SETTINGS frame. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** The first byte of a TLS alert (RFC 8446, section 5.1), with which a server answers what is no handshake. */
const TLS_ALERT = 0x15;

/** Said of servers that tell no reason. */
const NOT_OURS = 'Temporal hangs up after the handshake; it may want another client certificate.';

/**
 * Connects once by the same address and certificates, to learn why no call gets through: the SDK does not say.
 * @returns undefined when nothing is wrong with them, or no server answers
 */
export async function handshakeProblem(access: Access): Promise<AccessProblem | undefined> {
  const { address, tls } = temporalConnection(access);
  const socket = openSocket(address, tls);
  try {
    let isAgreed = false;
    socket.once('secureConnect', () => (isAgreed = true));
    const { error, said, isClosed } = await firstWords(socket);
    const isEnded = isClosed === true || (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';
    if (tls !== false && isAgreed && isEnded)
      return new AccessProblem(`${NAMES.certificate}: ${NOT_OURS}`, { cause: error });
    if (tls !== false) return tlsProblem(error, NAMES);
    return isEnded || said?.[0] === TLS_ALERT
      ? new AccessProblem('TEMPORAL_TLS: the server hangs up on a client without TLS; it may want it.')
      : undefined;
  } finally {
    socket.destroy();
  }
}

function openSocket(address: string, tls: ConnectionOptions['tls']): Socket {
  const { host, port } = hostOf(address);
  if (tls === false) return connectPlain({ host, port });
  const name = tls.serverNameOverride ?? host;
  return connectTls({
    host,
    port,
    ALPNProtocols: ['h2'],
    ...(isIP(name) === 0 && { servername: name }),
    ...(tls.serverRootCACertificate && { ca: tls.serverRootCACertificate }),
    ...(tls.clientCertPair && { cert: tls.clientCertPair.crt, key: tls.clientCertPair.key }),
  });
}

/** What the server says to a client's first words: in TLS 1.3 it refuses a client's certificate only after them. */
function firstWords(socket: Socket): Promise<{ error?: Error; said?: Buffer; isClosed?: true }> {
  return new Promise((resolve) => {
    socket.once('data', (said: Buffer) => resolve({ said }));
    socket.once('error', (error) => resolve({ error }));
    socket.once('close', () => resolve({ isClosed: true }));
    socket.setTimeout(HANDSHAKE_MS, () => resolve({}));
    socket.write(PREFACE);
  });
}

function hostOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || DEFAULT_PORT) };
}
