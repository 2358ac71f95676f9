/** Lookups of addresses; see `adapters.ts` for the rules that hold for all ports. */

/** Who holds a network, as far as a registry tells. */
export interface WhoisFacts {
  netName?: string;
  netRange?: string;
  cidr?: string;
  organization?: string;
  country?: string;
  descr?: string;
  abuse?: string;
}

export interface IpFacts {
  reverseDns: string[];
  whois: WhoisFacts | null;
  /** Which sources failed; what the others said is right all the same. */
  error?: string;
}

/** What others know of addresses; answers are kept for a while. */
export interface IpInfo {
  /** @param text an address, or a range in CIDR form */
  lookup(text: string): Promise<IpFacts>;
  close(): Promise<void>;
}
