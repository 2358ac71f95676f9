import { connect } from 'node:net';
import type { WhoisFacts } from '../../ports/ip-info.js';
import { readWhoisAnswer, referralOf } from './whois-answer.js';

const WHOIS_PORT = 43;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 100_000;

/** The only servers that are asked: referrals in answers are not followed. */
const REGISTRIES: ReadonlySet<string> = new Set([
  'whois.arin.net',
  'whois.ripe.net',
  'whois.apnic.net',
  'whois.lacnic.net',
  'whois.afrinic.net',
]);

export interface WhoisClientOptions {
  /** Whom to ask first: `host` or `host:port`. */
  server: string;
  timeoutMs?: number;
  /** Where a registry is, as `host:port`; the tests' are on loopback. */
  locate?: (registry: string) => string;
}

/**
 * The old protocol (RFC 3912): one line out, text in until the other end closes. Written here because the clients on
 * npm bound neither the size of an answer nor the time that it may drip.
 * @throws Error when the server cannot be reached or is too slow
 */
export function createWhoisClient({
  server,
  timeoutMs = TIMEOUT_MS,
  locate = (name) => name,
}: WhoisClientOptions) {
  return {
    async lookup(address: string): Promise<WhoisFacts | null> {
      const first = await ask(server, address, timeoutMs);
      const registry = referralOf(first);
      if (registry === null || !REGISTRIES.has(registry)) return readWhoisAnswer(first);
      // ARIN answers with a list of names only, unless it is asked for networks in full.
      const query = registry === 'whois.arin.net' ? `n + ${address}` : address;
      return readWhoisAnswer(await ask(locate(registry), query, timeoutMs));
    },
  };
}

/** What does not fit, or does not come in time, is cut off: the facts stand at the beginning. */
function ask(server: string, query: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const [host = '', port = WHOIS_PORT] = server.split(':');
    const socket = connect({ host, port: Number(port) }, () => socket.write(`${query}\r\n`));
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(decode(Buffer.concat(chunks).subarray(0, MAX_BYTES)));
    };
    const timer = setTimeout(() => {
      if (bytes > 0) return end();
      socket.destroy();
      reject(new Error(`${host} did not answer in time`));
    }, timeoutMs);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_BYTES) end();
    });
    socket.once('close', end);
    socket.once('error', (error) => {
      clearTimeout(timer);
      if (bytes > 0) return end();
      reject(error);
    });
  });
}

/** Some registries still answer in ISO 8859-1. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}
