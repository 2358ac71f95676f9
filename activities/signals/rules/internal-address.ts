import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Names of `ipaddr.js` for what is not routed on the public internet and belongs to a private network. */
const INTERNAL = new Set([
  'unspecified',
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);

const PREFIX = /^(?:0|[1-9]\d{0,2})$/;

/** Of IPv6 besides: site-local addresses (deprecated by RFC 3879), and NAT64 of one's own (RFC 8215). */
const INTERNAL_RANGES = [ipaddr.IPv6.parseCIDR('fec0::/10'), ipaddr.IPv6.parseCIDR('64:ff9b:1::/48')];

/**
 * Prefixes of IPv6 behind which four bytes of IPv4 stand: mapped, translated (RFC 2765), NAT64, 6to4, and the old
 * compatible form.
 */
const EMBEDDED: readonly { prefix: readonly number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], at: 12 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], at: 12 },
  { prefix: [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { prefix: [0x20, 0x02], at: 2 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
];

function rangeOf(bytes: number[]): string {
  return ipaddr.fromByteArray(bytes).range();
}

function isInternalBytes(bytes: number[]): boolean {
  if (INTERNAL.has(rangeOf(bytes))) return true;
  const address = ipaddr.fromByteArray(bytes);
  if (!(address instanceof ipaddr.IPv6)) return false;
  if (INTERNAL_RANGES.some((range) => address.match(range))) return true;
  const form = EMBEDDED.find(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte));
  return form !== undefined && INTERNAL.has(rangeOf(bytes.slice(form.at, form.at + 4)));
}

/**
 * Whether an address, or either end of a range (`10.0.0.0/8`), belongs to a private network: private, loopback,
 * link-local, shared (CGNAT), unique-local and unspecified addresses, as IPv4, IPv6 or IPv4 inside IPv6. Blanks around
 * it and a zone id do not count; false for any other text.
 */
export function isInternalAddress(text: string): boolean {
  const [base = '', prefix, ...more] = text.trim().split('/');
  const zone = base.includes(':') ? base.indexOf('%') : -1;
  const bare = zone === -1 ? base : base.slice(0, zone);
  // `isIP` first: the parser alone would take `127.1`, `0x7f.1` and octets with leading zeros.
  if (isIP(bare) === 0 || more.length > 0) return false;
  const bytes = ipaddr.parse(bare).toByteArray();
  if (prefix === undefined) return isInternalBytes(bytes);
  const bits = Number(prefix);
  if (!PREFIX.test(prefix) || bits > bytes.length * 8) return false;
  const hostBits = bytes.map((_byte, index) => 0xff >> Math.min(8, Math.max(0, bits - index * 8)));
  const first = bytes.map((byte, index) => byte & ~(hostBits[index] ?? 0) & 0xff);
  const last = bytes.map((byte, index) => byte | (hostBits[index] ?? 0));
  return isInternalBytes(first) || isInternalBytes(last);
}
