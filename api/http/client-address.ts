import ipaddr from 'ipaddr.js';
import type Koa from 'koa';
import type { Middleware } from 'koa';

type Address = ReturnType<typeof ipaddr.process>;

/** How many leading bits of an IPv6 address are one customer's: a provider hands out whole /64 networks. */
const IPV6_SUBSCRIBER_BITS = 64;

/**
 * Where a request comes from. X-Forwarded-For is believed as far as trusted proxies wrote it: read from its end, the
 * first address that is not itself trusted is the client's (as uvicorn does, whose setting
 * UVICORN_FORWARDED_ALLOW_IPS this is). What a client put in front of that decides nothing.
 * @returns null once the connection is gone
 */
function createSource(trustedProxies: readonly string[]): (ctx: Koa.Context) => Address | null {
  const isTrusted = createTrust(trustedProxies);
  return (ctx) => {
    let address = parse(ctx.req.socket.remoteAddress ?? '');
    if (address === null) return null;
    const hops = ctx
      .get('X-Forwarded-For')
      .split(',')
      .map((hop) => hop.trim());
    while (isTrusted(address) && hops.length > 0) {
      const hop = parse(hops.pop() ?? '');
      if (hop === null) break;
      address = hop;
    }
    return address;
  };
}

/** The client's address as text, for lists of networks; empty once the connection is gone. */
export function createClientAddress(trustedProxies: readonly string[]): (ctx: Koa.Context) => string {
  const source = createSource(trustedProxies);
  return (ctx) => source(ctx)?.toString() ?? '';
}

/** Whose request it is, for limits per address: IPv6 addresses of one /64 network count as one. */
export function createClientName(trustedProxies: readonly string[]): (ctx: Koa.Context) => string {
  const source = createSource(trustedProxies);
  return (ctx) => {
    const address = source(ctx);
    return address === null ? 'unknown' : nameOf(address);
  };
}

/** Keeps the client's name with its request, for all that counts per client. */
export function nameClients(trustedProxies: readonly string[]): Middleware {
  const nameClient = createClientName(trustedProxies);
  return (ctx, next) => {
    ctx.state['client'] = nameClient(ctx);
    return next();
  };
}

/** Whose request it is, as `nameClients` has found. */
export function clientOf(ctx: Koa.Context): string {
  return ctx.state['client'] as string;
}

function createTrust(trusted: readonly string[]): (address: Address) => boolean {
  if (trusted.includes('*')) return () => true;
  const networks = trusted.map((entry) => {
    const [base = '', bits] = entry.split('/');
    const address = ipaddr.parse(base);
    return { address, bits: bits === undefined ? address.toByteArray().length * 8 : Number(bits) };
  });
  return (address) =>
    networks.some(
      (network) => network.address.kind() === address.kind() && address.match(network.address, network.bits),
    );
}

/** Most requests come from few addresses; reading one takes a tenth of a millisecond. */
const read = new Map<string, Address | null>();
const MAX_READ = 1_000;
/** Of an IPv6 address with its zone and port; what is longer is no address. */
const MAX_LENGTH = 100;

function parse(text: string): Address | null {
  if (text.length > MAX_LENGTH) return null;
  const known = read.get(text);
  if (known !== undefined) return known;
  const address = readAddress(text);
  if (read.size >= MAX_READ) read.clear();
  read.set(text, address);
  return address;
}

/** With or without a port, IPv6 in brackets or not; an IPv4 address that is wrapped in IPv6 is unwrapped. */
function readAddress(text: string): Address | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return ipaddr.isValid(bare) && (bare.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(bare))
    ? ipaddr.process(bare)
    : null;
}

function nameOf(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${IPV6_SUBSCRIBER_BITS}`);
  return `${network.toString()}/${IPV6_SUBSCRIBER_BITS}`;
}
