import type { Cache } from '../../ports/cache.js';
import type { IpFacts, IpInfo, WhoisFacts } from '../../ports/ip-info.js';
import { parseAddressOrRange } from '../../outbound/address-or-range.js';
import { isPublicAddress } from '../../outbound/is-public-address.js';
import { createRdapClient } from './rdap-client.js';
import { createReverseDns } from './reverse-dns.js';
import { createWhoisClient } from './whois-client.js';

const KEPT_MS = 3_600_000;
/** A failed lookup is repeated sooner, but not with every request. */
const FAILURE_KEPT_MS = 60_000;

export interface IpInfoSources {
  rdap: { lookup(network: string): Promise<WhoisFacts | null>; close(): Promise<void> };
  whois: { lookup(address: string): Promise<WhoisFacts | null> };
  reverse: { lookup(address: string): Promise<string[]> };
}

/** The real sources: registries over RDAP and WHOIS, and the system's resolver. */
export function createIpInfoSources(options: {
  rdapUrl: string;
  whoisServer: string;
  userAgent: string;
}): IpInfoSources {
  return {
    rdap: createRdapClient({ baseUrl: options.rdapUrl, userAgent: options.userAgent }),
    whois: createWhoisClient({ server: options.whoisServer }),
    reverse: createReverseDns(),
  };
}

/** Lookups switched off: nothing is known of any address, and no request goes out. */
export const NO_IP_INFO: IpInfo = {
  lookup: async () => ({ reverseDns: [], whois: null, error: 'lookups are switched off' }),
  close: async () => undefined,
};

/**
 * What public sources say of an address or a range: its names, and the holder of the network, by RDAP or else by WHOIS.
 * A source that fails leaves its part empty and is named in `error`; it never fails the whole. Of an address that is
 * not public the registries are not asked.
 */
export function createIpInfo(sources: IpInfoSources, cache: Cache): IpInfo {
  const underWay = new Map<string, Promise<IpFacts>>();

  const registered = async (
    text: string,
    address: string,
  ): Promise<{ whois: WhoisFacts | null; fault?: string }> => {
    if (!isPublicAddress(address)) return { whois: null };
    const faults: string[] = [];
    const asked = async (name: string, question: () => Promise<WhoisFacts | null>) => {
      try {
        return await question();
      } catch (error) {
        faults.push(`${name}: ${reasonOf(error)}`);
        return null;
      }
    };
    const whois =
      (await asked('RDAP', () => sources.rdap.lookup(text))) ??
      (await asked('WHOIS', () => sources.whois.lookup(address)));
    return whois === null && faults.length > 0 ? { whois, fault: faults.join('; ') } : { whois };
  };

  const names = async (address: string): Promise<{ reverseDns: string[]; fault?: string }> => {
    try {
      return { reverseDns: await sources.reverse.lookup(address) };
    } catch (error) {
      return { reverseDns: [], fault: `reverse DNS: ${reasonOf(error)}` };
    }
  };

  const look = async (text: string): Promise<IpFacts> => {
    const parsed = parseAddressOrRange(text);
    if (parsed === null) throw new Error(`${text} is neither an address nor a range`);
    const { address, prefix } = parsed;
    const [dns, registry] = await Promise.all([
      prefix === null ? names(address) : { reverseDns: [] },
      registered(text, address),
    ]);
    const faults = [dns, registry].flatMap((part) =>
      'fault' in part && part.fault !== undefined ? [part.fault] : [],
    );
    return {
      reverseDns: dns.reverseDns,
      whois: registry.whois,
      ...(faults.length === 0 ? {} : { error: faults.join('; ') }),
    };
  };

  const knownOrAsked = async (text: string): Promise<IpFacts> => {
    const known = await cache.get(text);
    if (known !== null) return JSON.parse(known) as IpFacts;
    const facts = await look(text);
    await cache.set(text, JSON.stringify(facts), facts.error === undefined ? KEPT_MS : FAILURE_KEPT_MS);
    return facts;
  };

  return {
    async lookup(text) {
      const asked = underWay.get(text);
      if (asked !== undefined) return asked;
      const question = knownOrAsked(text).finally(() => underWay.delete(text));
      underWay.set(text, question);
      return question;
    },
    close: () => sources.rdap.close(),
  };
}

/** A code or a sentence, never a stack or an address of ours. */
function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError' || code === 'ECANCELLED') return 'no answer in time';
  return code ?? message;
}
