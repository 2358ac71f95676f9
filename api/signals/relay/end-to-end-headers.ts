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

/** The headers that travel on: all but the hop-by-hop ones and those that `Connection` names. Names in lower case. */
export const endToEndHeaders = (headers: HeaderMap): Record<string, string | string[]> => {
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
};
