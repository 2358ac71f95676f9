import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const PREFIX = /^(?:0|[1-9]\d{0,2})$/;

/** An address as a number, and the bits that its family has. */
interface Address {
  value: bigint;
  width: 32 | 128;
}

/** Blanks around it and a zone id (`fe80::1%eth0`) do not count. Null when it is no address. */
function readAddress(text: string): Address | null {
  const trimmed = text.trim();
  const zone = trimmed.indexOf('%');
  const bare = zone > 0 && trimmed.includes(':') ? trimmed.slice(0, zone) : trimmed;
  // `isIP` first: the parser alone would take `127.1`, `0x7f.1` and octets with leading zeros.
  const family = isIP(bare);
  if (family === 0) return null;
  const hex = Buffer.from(ipaddr.parse(bare).toByteArray()).toString('hex');
  return { value: BigInt(`0x${hex}`), width: family === 4 ? 32 : 128 };
}

/** What the addresses of a network have in common: the bits before its length, as a number. */
function networkOf({ value, width }: Address, length: number): bigint {
  return value >> BigInt(width - length);
}

/** `10.0.0.0/8`, `2001:db8::/32` or a bare address (a host route). Null when it cannot be read. */
function readRange(range: string): { address: Address; length: number } | null {
  const [base = '', prefix, ...more] = range.trim().split('/');
  const address = readAddress(base);
  if (address === null || base !== base.trimEnd() || more.length > 0) return null;
  if (prefix !== undefined && !PREFIX.test(prefix)) return null;
  const length = prefix === undefined ? address.width : Number(prefix);
  return length > address.width ? null : { address, length };
}

/**
 * Prepares a list of ranges. The families never mix, and an IPv4-mapped address stays IPv6: `::ffff:10.0.0.1` is not
 * in `10.0.0.0/8`. An address is read once and looked up once for each length of prefix: a list may have thousands of
 * ranges, and a signal thousands of addresses.
 */
export function cidrRanges(ranges: readonly string[]) {
  const unreadable: string[] = [];
  /** By family and length of prefix: for each network its first place in the list. */
  const families = {
    32: new Map<number, Map<bigint, number>>(),
    128: new Map<number, Map<bigint, number>>(),
  };
  for (const [index, range] of ranges.entries()) {
    const read = readRange(range);
    if (read === null) {
      unreadable.push(range);
      continue;
    }
    const { address, length } = read;
    const family = families[address.width];
    const networks = family.get(length) ?? new Map<bigint, number>();
    family.set(length, networks);
    const network = networkOf(address, length);
    if (!networks.has(network)) networks.set(network, index);
  }
  return {
    /** These contain nothing. */
    unreadable,
    /** The first of the list that contains the address, as it was written; null when none does, or it is none. */
    find(text: string): string | null {
      const address = readAddress(text);
      if (address === null) return null;
      let first = Infinity;
      for (const [length, networks] of families[address.width])
        first = Math.min(first, networks.get(networkOf(address, length)) ?? Infinity);
      return ranges[first] ?? null;
    },
  };
}
