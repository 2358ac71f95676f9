import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All of IPv6 that was ever given out; the rest, `::127.0.0.1` in it, carries old forms or nothing. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public internet. `unicast` alone also leaves out 6to4, Teredo and NAT64, which
 * could carry a private address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST)) return false;
  return parsed.range() === 'unicast';
}
