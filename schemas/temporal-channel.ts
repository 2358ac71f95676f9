const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * gRPC's client goes through `https_proxy` or `http_proxy`, also to this machine, unless `no_proxy` (in small letters
 * alone) names it. No proxy leads to what listens on loopback.
 */
export function loopbackChannel(address: string): { channelArgs?: { 'grpc.enable_http_proxy': 0 } } {
  return LOOPBACK.test(address) ? { channelArgs: { 'grpc.enable_http_proxy': 0 } } : {};
}
