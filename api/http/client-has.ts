import type Koa from 'koa';

/**
 * Whether the client says that it has what it asks for, by `If-None-Match` (RFC 9110, 13.1.2: a list, or `*`, compared
 * weakly); to be answered 304. It is looked at before a range is. A `Cache-Control: no-cache` beside it, which `fetch`
 * sends along, is for caches on the way.
 * @param etag in its quotes
 */
export function clientHas(ctx: Koa.Context, etag: string): boolean {
  const given = ctx.get('If-None-Match').trim();
  if (given === '*') return true;
  const tags: readonly string[] = given.match(/"[^"]*"/g) ?? [];
  return tags.includes(etag);
}
