import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What an address looks like to a rule: 4 or 16 bytes. */
type AddressBytes = readonly number[];

const PREFIX = /^(?:0|[1-9]\d{0,2})$/;

/** Blanks around it and a zone id (`fe80::1%eth0`) do not count. Null when it is no address. */
function toBytes(text: string): AddressBytes | null {
  const trimmed = text.trim();
  const zone = trimmed.indexOf('%');
  const bare = zone > 0 && trimmed.includes(':') ? trimmed.slice(0, zone) : trimmed;
  // `isIP` first: the parser alone would take `127.1`, `0x7f.1` and octets with leading zeros.
  return isIP(bare) === 0 ? null : ipaddr.parse(bare).toByteArray();
}

/** Whether the first `bits` bits are the same. */
function samePrefix(a: AddressBytes, b: AddressBytes, bits: number): boolean {
  const whole = bits >> 3;
  for (let index = 0; index < whole; index += 1) if (a[index] !== b[index]) return false;
  const rest = bits & 7;
  return rest === 0 || (a[whole] ?? 0) >> (8 - rest) === (b[whole] ?? 0) >> (8 - rest);
}

/**
 * Prepares `10.0.0.0/8`, `2001:db8::/32` or a bare address (a host route). The families never mix, and an
 * IPv4-mapped address stays IPv6: `::ffff:10.0.0.1` is not in `10.0.0.0/8`. Null when the range cannot be read.
 */
export function cidrRange(range: string): ((address: string) => boolean) | null {
  const [base = '', prefix, ...more] = range.trim().split('/');
  const network = toBytes(base);
  if (network === null || base !== base.trimEnd() || more.length > 0) return null;
  if (prefix !== undefined && !PREFIX.test(prefix)) return null;
  const width = network.length * 8;
  const bits = prefix === undefined ? width : Number(prefix);
  if (bits > width) return null;
  return (text) => {
    const address = toBytes(text);
    return address !== null && address.length === network.length && samePrefix(address, network, bits);
  };
}
