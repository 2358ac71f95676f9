import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Whether an address belongs to the public internet. Public registries know nothing of the others, and asking would
 * only tell of our network.
 */
export const isPublicAddress = (address: string): boolean =>
  isIP(address) !== 0 && !address.includes('%') && ipaddr.process(address).range() === 'unicast';
