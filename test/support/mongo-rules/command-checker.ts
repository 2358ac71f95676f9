import type { Document } from 'mongodb';
import { indexName, indexViolations } from './index-rules.js';
import { pipelineViolations } from './pipeline-rules.js';
import { findViolations, projectionViolations, queryViolations, sortViolations } from './query-rules.js';
import { isDocument, isOperators, violation } from './rule.js';
import type { Violation } from './rule.js';
import { documentViolations, listPaths, namespaceViolations, sizeViolations } from './stored-rules.js';
import { updateViolations } from './update-rules.js';

/** Commands that are sent besides those that a rule reads, by the driver or for upkeep. */
const ADMINISTRATION = new Set([
  'ping',
  'hello',
  'ismaster',
  'isMaster',
  'buildInfo',
  'endSessions',
  'killCursors',
  'getMore',
  'explain',
  'dropDatabase',
  'drop',
  'dropIndexes',
  'create',
  'listCollections',
  'listIndexes',
  'listDatabases',
]);

/** The field that holds the statements of a batch. */
const BATCHES: Record<string, string> = { insert: 'documents', update: 'updates', delete: 'deletes' };

/** Lists that grow by one element an update, and what keeps their documents small. Others say how long they get. */
const BOUNDED_LISTS = new Map([
  ['users.pending_tasks', 'as many as the quota has room for: the filter asks for an empty place'],
  ['logins.passed', 'as many as the budget allows: the filter asks for an empty place'],
  ['partitions.members', 'one for each user'],
  ['files.workspaces', 'one for each workspace of the partition'],
  ['files.attached.generations', 'versions of the mail that are kept: the clean-up takes the others away'],
  ['files.chunk_updates', 'changes under way: each is taken away when the chunks have followed'],
  ['claims.holders', 'tasks under way with these bytes'],
  ['import_runs.refused', 'the first hundred files and the first hundred partitions'],
]);

interface Known {
  indexes: Document[];
  /** Where documents were seen to hold lists. */
  lists: Set<string>;
}

/**
 * Reads commands as they go to a server for what MongoDB 7 or 8, as documented, would refuse, and for the little that
 * FerretDB lacks. It knows the indexes that it saw being created. The server that the tests run on may be more lenient:
 * so no form reaches a release that the other one does not take.
 */
export function createCommandChecker(): { check(database: string, command: Document): Violation[] } {
  const collections = new Map<string, Known>();
  const knownOf = (database: string, collection: string): Known => {
    const name = `${database}.${collection}`;
    const known = collections.get(name) ?? { indexes: [], lists: new Set<string>() };
    collections.set(name, known);
    return known;
  };
  return {
    check(database, sent) {
      const command = withoutMaps(sent) as Document;
      const name = Object.keys(command)[0] ?? '';
      if (name === 'dropDatabase')
        for (const key of collections.keys()) if (key.startsWith(`${database}.`)) collections.delete(key);
      if (ADMINISTRATION.has(name)) return [];
      const collection = String(command[name]);
      const known = knownOf(database, collection);
      return [
        ...namespaceViolations(database, collection),
        ...sizeViolations(command, BATCHES[name] ?? null),
        ...hintViolations(command, known),
        ...sessionViolations(command),
        ...ofCommand(name, command, known),
      ];
    },
  };
}

/** The driver keeps the order of keys and sorts in maps; a server sees documents. */
function withoutMaps(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>);
  if (Array.isArray(value)) return value.map(withoutMaps);
  if (!isDocument(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).map(([name, inner]) => [name, withoutMaps(inner)]),
  );
}

function ofCommand(name: string, command: Document, known: Known): Violation[] {
  switch (name) {
    case 'createIndexes': {
      const indexes = command['indexes'] as Document[];
      const found = indexViolations(indexes, known.indexes);
      const present = new Set(known.indexes.map(indexName));
      known.indexes.push(...indexes.filter((index) => !present.has(indexName(index))));
      return found;
    }
    case 'insert': {
      const documents = command['documents'] as Document[];
      for (const document of documents) for (const path of listPaths(document)) known.lists.add(path);
      return [...documents.flatMap(documentViolations), ...parallelLists(known)];
    }
    case 'update':
      return (command['updates'] as Document[]).flatMap((statement) => [
        ...ofUpdate(statement, known),
        ...growthViolations(String(command['update']), statement['u']),
      ]);
    case 'delete':
      return (command['deletes'] as Document[]).flatMap((statement) => queryViolations(statement['q']));
    case 'findAndModify':
      return [
        ...ofFindAndModify(command, known),
        ...growthViolations(String(command['findAndModify']), command['update']),
      ];
    case 'find':
      return findViolations(command);
    case 'aggregate':
      return pipelineViolations(command);
    case 'count':
    case 'distinct':
      return queryViolations(command['query']);
    default:
      return [violation('CommandNotFound', `no such command: '${name}'`)];
  }
}

function ofUpdate(statement: Document, known: Known): Violation[] {
  const { q, u, upsert, multi, arrayFilters } = statement as Parameters<typeof updateViolations>[0];
  return [
    ...queryViolations(q),
    ...updateViolations({
      q,
      u,
      upsert: upsert === true,
      multi: multi === true,
      ...(arrayFilters !== undefined && { arrayFilters }),
    }),
    ...writtenViolations(u, known),
  ];
}

function ofFindAndModify(command: Document, known: Known): Violation[] {
  const found = [...queryViolations(command['query']), ...projectionViolations(command['fields'])];
  found.push(...sortViolations(command['sort']));
  const [removes, updates] = [command['remove'] === true, 'update' in command];
  if (removes === updates) found.push(violation('FailedToParse', 'findAndModify either removes or updates'));
  if (removes && command['new'] === true)
    found.push(violation('FailedToParse', 'cannot answer the new document of a removal'));
  if (updates)
    found.push(
      ...ofUpdate(
        { q: command['query'] ?? {}, u: command['update'], upsert: command['upsert'] },
        known,
      ).filter((one) => !found.some(({ why }) => why === one.why)),
    );
  return found;
}

/** BSONObjectTooLarge (10334), one day: a list without an end reaches 16 MB. */
function growthViolations(collection: string, u: unknown): Violation[] {
  if (!isDocument(u)) return [];
  return ['$push', '$addToSet'].flatMap((operator) =>
    Object.entries((u[operator] ?? {}) as Record<string, unknown>).flatMap(([path, value]) =>
      (isOperators(value) && '$slice' in value) || BOUNDED_LISTS.has(`${collection}.${path}`)
        ? []
        : [violation('BSONObjectTooLarge', `${operator} to "${path}" without an end`)],
    ),
  );
}

/** What an update writes: sizes and lists, as far as they stand in the update itself. */
function writtenViolations(u: unknown, known: Known): Violation[] {
  if (!isDocument(u)) return [];
  if (!isOperators(u)) {
    for (const path of listPaths(u)) known.lists.add(path);
    return [...documentViolations(u), ...parallelLists(known)];
  }
  for (const [operator, fields] of Object.entries(u))
    for (const [path, value] of Object.entries(fields)) {
      if (operator === '$push' || operator === '$addToSet') known.lists.add(path);
      if (operator === '$set' || operator === '$setOnInsert')
        for (const inner of listPaths(value, path)) known.lists.add(inner);
    }
  return parallelLists(known);
}

/** CannotIndexParallelArrays (171): of the fields of one index at most one may lead through a list. */
function parallelLists({ indexes, lists }: Known): Violation[] {
  return indexes.flatMap((index) => {
    const through = new Set(
      Object.keys(index['key'] as Document).flatMap(
        (path) => [...lists].find((list) => path === list || path.startsWith(`${list}.`)) ?? [],
      ),
    );
    return through.size > 1
      ? [
          violation(
            'CannotIndexParallelArrays',
            `${indexName(index)} indexes lists: ${[...through].join(', ')}`,
          ),
        ]
      : [];
  });
}

/** BadValue: "hint provided does not correspond to an existing index". */
function hintViolations(command: Document, { indexes }: Known): Violation[] {
  const statements = [command, ...((command['updates'] ?? command['deletes'] ?? []) as Document[])];
  return statements.flatMap(({ hint }: Document) => {
    if (hint === undefined || hint === '_id_') return [];
    const key = JSON.stringify(hint);
    const found = indexes.some((index) =>
      typeof hint === 'string' ? indexName(index) === hint : JSON.stringify(index['key']) === key,
    );
    return found || key === '{"_id":1}' ? [] : [violation('BadValue', `the hint ${key} names no index`)];
  });
}

/** FerretDB has neither transactions nor collations. */
function sessionViolations(command: Document): Violation[] {
  const found: Violation[] = [];
  if (command['startTransaction'] === true || command['autocommit'] === false)
    found.push(violation('NotSupported', 'FerretDB has no transactions'));
  if (command['collation'] !== undefined) found.push(violation('NotSupported', 'FerretDB has no collations'));
  return found;
}
