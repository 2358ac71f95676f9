import type { Document } from 'mongodb';

/**
 * What of a plan reads more than was asked for: the whole collection, or a whole index. Empty when every part has
 * bounds. Reads what MongoDB answers to `explain`, and what FerretDB does, which is PostgreSQL's plan.
 * An ordered walk that ends at a limit and throws nothing away is none: it reads what it answers.
 * @throws Error for a form that is neither: a plan that cannot be read must not pass for a good one
 */
export function scansOf(explained: Document): string[] {
  const planner = queryPlannerOf(explained);
  if (isDocument(planner['Plan'])) return postgresScans(planner['Plan'], NO_CONTEXT);
  const winning: unknown = planner['winningPlan'];
  if (isDocument(winning))
    return mongoScans(isDocument(winning['queryPlan']) ? winning['queryPlan'] : winning, false);
  throw new Error(`not a plan that can be read: ${JSON.stringify(explained).slice(0, 500)}`);
}

/** Of an aggregation MongoDB answers the plan of what feeds its stages; a short one is answered like a `find`. */
function queryPlannerOf(explained: Document): Document {
  if (isDocument(explained['queryPlanner'])) return explained['queryPlanner'];
  const [first] = Array.isArray(explained['stages']) ? (explained['stages'] as Document[]) : [];
  const cursor: unknown = first?.['$cursor'];
  return isDocument(cursor) && isDocument(cursor['queryPlanner']) ? cursor['queryPlanner'] : {};
}

const MONGO_INDEX_SCANS = new Set(['IXSCAN', 'DISTINCT_SCAN', 'EXPRESS_IXSCAN']);
/** What ends a walk early, given how many it needs. */
const MONGO_LIMITS = new Set(['LIMIT']);
/** What has to read everything below before it answers anything. */
const MONGO_BLOCKING = new Set(['SORT', 'GROUP', 'COUNT']);

function mongoScans(node: Document, limited: boolean): string[] {
  const stage = String(node['stage']);
  const below = MONGO_BLOCKING.has(stage) ? false : limited || MONGO_LIMITS.has(stage);
  const ends = below && node['filter'] === undefined;
  const own: string[] = [];
  if (stage === 'COLLSCAN' && !ends) own.push('reads the whole collection');
  if (MONGO_INDEX_SCANS.has(stage) && !ends && isUnbounded(firstBounds(node['indexBounds'])))
    own.push(`reads the whole index ${String(node['indexName'])}`);
  const children = [node['inputStage'], ...((node['inputStages'] ?? []) as unknown[])].filter(isDocument);
  return [...own, ...children.flatMap((child) => mongoScans(child, ends))];
}

/** The intervals of an index's first field. */
function firstBounds(bounds: unknown): string[] {
  if (!isDocument(bounds)) return [];
  const [first] = Object.values(bounds);
  return Array.isArray(first) ? first.map(String) : [];
}

function isUnbounded(intervals: readonly string[]): boolean {
  return intervals.some((interval) => /^[[(](MinKey, MaxKey|MaxKey, MinKey)[\])]$/.test(interval));
}

interface Context {
  /** Nothing above needs more than it answers. */
  limited: boolean;
  /** The bounds of each index as DocumentDB describes them above the scan itself. */
  bounds: ReadonlyMap<string, readonly string[]>;
}

const NO_CONTEXT: Context = { limited: false, bounds: new Map() };
const POSTGRES_INDEX_SCANS = new Set(['Index Scan', 'Index Only Scan', 'Bitmap Index Scan']);
const POSTGRES_BLOCKING = new Set(['Sort', 'Aggregate', 'Incremental Sort', 'Hash', 'BitmapAnd', 'BitmapOr']);

function postgresScans(node: Document, context: Context): string[] {
  const type = String(node['Node Type']);
  const limited = POSTGRES_BLOCKING.has(type) ? false : context.limited || type === 'Limit';
  const ends = limited && node['Filter'] === undefined;
  const bounds = new Map([...context.bounds, ...describedBounds(node)]);
  const own: string[] = [];
  if (type === 'Seq Scan' && !ends) own.push('reads the whole collection');
  if (POSTGRES_INDEX_SCANS.has(type) && !(ends && type !== 'Bitmap Index Scan')) {
    const name = String(node['Index Name']);
    const described = bounds.get(name);
    // The index of _id holds the collection's number in front: with that alone everything is read.
    if (described === undefined ? isWholeCollection(node) : described.some(beginsUnbounded))
      own.push(`reads the whole index ${name}`);
  }
  const children = ((node['Plans'] ?? []) as unknown[]).filter(isDocument);
  return [...own, ...children.flatMap((child) => postgresScans(child, { limited: ends, bounds }))];
}

function describedBounds(node: Document): [string, string[]][] {
  const details: unknown = node['IndexDetails'];
  if (!Array.isArray(details)) return [];
  return (details as Document[]).flatMap((detail): [string, string[]][] =>
    Array.isArray(detail['indexBounds'])
      ? [[String(detail['indexName']), (detail['indexBounds'] as unknown[]).map(String)]]
      : [],
  );
}

/** `["a": (MinKey, MaxKey), "b": [1, 1]]`: the first field decides how much of the index is read. */
function beginsUnbounded(bounds: string): boolean {
  return /^\["[^"]*": [[(](MinKey, MaxKey|MaxKey, MinKey)[\])]/.test(bounds);
}

function isWholeCollection(node: Document): boolean {
  const condition: unknown = node['Index Cond'];
  return typeof condition !== 'string' || /^\(shard_key_value = '\d+'::bigint\)$/.test(condition);
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
