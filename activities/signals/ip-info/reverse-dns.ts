import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';

const TIMEOUT_MS = 3_000;
/** Names kept of an address: more than this are an attack on the page that shows them. */
const MAX_NAMES = 50;

/** What a resolver says when there is no name, which is no fault. */
const NO_NAME = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN']);

/**
 * The names of an address.
 * @param servers `host:port` of the resolvers to ask; unset: the system's
 * @throws Error when no resolver answers in time
 */
export function createReverseDns({
  servers,
  timeoutMs = TIMEOUT_MS,
}: { servers?: readonly string[]; timeoutMs?: number } = {}) {
  return {
    async lookup(address: string): Promise<string[]> {
      // One per question: cancelling ends all questions of a resolver.
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers !== undefined) resolver.setServers(servers);
      const timer = setTimeout(() => resolver.cancel(), timeoutMs);
      try {
        return (await resolver.resolvePtr(pointerName(address))).slice(0, MAX_NAMES);
      } catch (error) {
        if (NO_NAME.has((error as NodeJS.ErrnoException).code ?? '')) return [];
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/**
 * Where the names of an address stand (RFC 1035, 3.5; RFC 3596, 2.5). `Resolver.reverse` hides failures as "no name".
 */
function pointerName(text: string): string {
  const address = ipaddr.process(text);
  const bytes = address.toByteArray();
  if (address.kind() === 'ipv4') return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]);
  return `${nibbles
    .reverse()
    .map((nibble) => nibble.toString(16))
    .join('.')}.ip6.arpa`;
}
