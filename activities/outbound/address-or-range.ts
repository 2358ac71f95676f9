import { isIP } from 'node:net';

/** An address, or a range in CIDR form, as `{ address, prefix }`; null for any other text. */
export function parseAddressOrRange(text: string): { address: string; prefix: number | null } | null {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return null;
  if (bits === undefined) return { address, prefix: null };
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return null;
  return { address, prefix: Number(bits) };
}
