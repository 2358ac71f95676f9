/** As Node and undici hand them out: several values of one name in an array. */
export type HeaderMap = Readonly<Record<string, string | string[] | undefined>>;

/** Between two neighbours only; never passed on (RFC 9110, 7.6.1, and `Keep-Alive` and `Proxy-*` of old). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What CAPI's clients send (wire contract, 6.1 and 6.2), and what HTTP needs to tell bodies. */
const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'user-agent',
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'content-encoding',
  'content-length',
  'cache-control',
  'pragma',
  'if-modified-since',
  'if-none-match',
  'range',
]);

/** What tells of the answer itself. How browsers treat it, cookies and origins are for us to say. */
const ANSWER_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'content-language',
  'content-range',
  'etag',
  'last-modified',
  'cache-control',
  'expires',
  'age',
  'date',
  'accept-ranges',
  'retry-after',
  'location',
  'allow',
  'www-authenticate',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

function only(names: ReadonlySet<string>, headers: HeaderMap): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(endToEndHeaders(headers)).filter(([name]) => names.has(name)));
}

/** Of a client's headers, those for CAPI: no cookie, key or address that was meant for us. */
export function requestHeaders(headers: HeaderMap) {
  return only(REQUEST_HEADERS, headers);
}

/** Of CAPI's headers, those for the client: none that replaces one of ours. */
export function answerHeaders(headers: HeaderMap) {
  return only(ANSWER_HEADERS, headers);
}

/** The headers that travel on: all but the hop-by-hop ones and those that `Connection` names. Names in lower case. */
export function endToEndHeaders(headers: HeaderMap): Record<string, string | string[]> {
  const named = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== 'connection' || value === undefined) continue;
    for (const option of [value].flat().join(',').split(',')) named.add(option.trim().toLowerCase());
  }
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (value === undefined || HOP_BY_HOP.has(key) || key.startsWith('proxy-') || named.has(key)) continue;
    kept[key] = value;
  }
  return kept;
}
