/** The endpoints that we call; anything else is one word, since a path may hold ids. */
const KNOWN = new Set([
  '_search',
  '_msearch',
  '_bulk',
  '_mget',
  '_doc',
  '_count',
  '_refresh',
  '_mapping',
  '_settings',
  '_alias',
  '_aliases',
  '_update_by_query',
  '_delete_by_query',
  '_reindex',
  '_tasks',
  '_cat',
  '_nodes',
  '_cluster',
]);

/** What a request is called in the metrics. */
export function operationOf(path: string): string {
  const part = path.split(/[/?]/).find((each) => each.startsWith('_'));
  return part !== undefined && KNOWN.has(part) ? part.slice(1) : 'other';
}
