import { BSON } from 'mongodb';
import type { Document } from 'mongodb';
import { isDocument, violation } from './rule.js';
import type { Violation } from './rule.js';

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** A command may be larger than a document by what its other fields take. */
const COMMAND_HEADROOM_BYTES = 16 * 1024;
const MAX_MESSAGE_BYTES = 48_000_000;
const MAX_BATCH = 100_000;
const MAX_DEPTH = 100;

/** What a server refuses of a document that is inserted or takes another one's place. */
export function documentViolations(document: Document): Violation[] {
  const found: Violation[] = [];
  const bytes = BSON.calculateObjectSize(document, { ignoreUndefined: true });
  if (bytes > MAX_DOCUMENT_BYTES)
    found.push(
      violation('BSONObjectTooLarge', `a document of ${bytes} bytes; ${MAX_DOCUMENT_BYTES} at most`),
    );
  for (const name of Object.keys(document))
    if (name.startsWith('$'))
      found.push(violation('DollarPrefixedFieldName', `the top field "${name}" begins with a dollar`));
  const id: unknown = document['_id'];
  if (Array.isArray(id) || id instanceof RegExp)
    found.push(violation('InvalidIdField', 'an _id can be neither a list nor a pattern'));
  if (isDocument(id) && Object.keys(id).some((name) => name.startsWith('$')))
    found.push(violation('DollarPrefixedFieldName', 'a field of the _id begins with a dollar'));
  if (depthOf(document) > MAX_DEPTH)
    found.push(violation('Overflow', `a document is nested at most ${MAX_DEPTH} levels deep`));
  return found;
}

/** BSONObjectTooLarge, InvalidLength (16) and the length of a message, for commands with and without batches. */
export function sizeViolations(command: Document, batch: string | null): Violation[] {
  const found: Violation[] = [];
  const list = batch === null ? [] : (command[batch] as Document[]);
  if (list.length > MAX_BATCH || (batch !== null && list.length === 0))
    found.push(violation('InvalidLength', `write batch sizes must be between 1 and ${MAX_BATCH}`));
  const rest = Object.fromEntries(
    Object.entries(command as Record<string, unknown>).filter(([name]) => name !== batch),
  );
  const restBytes = BSON.calculateObjectSize(rest, { ignoreUndefined: true });
  if (restBytes > MAX_DOCUMENT_BYTES + COMMAND_HEADROOM_BYTES)
    found.push(violation('BSONObjectTooLarge', `a command of ${restBytes} bytes`));
  const sizes = list.map((one) => BSON.calculateObjectSize(one, { ignoreUndefined: true }));
  if (sizes.some((size) => size > MAX_DOCUMENT_BYTES + COMMAND_HEADROOM_BYTES))
    found.push(violation('BSONObjectTooLarge', 'a statement of a batch is larger than a document'));
  const total = sizes.reduce((sum, size) => sum + size, restBytes);
  if (total > MAX_MESSAGE_BYTES)
    found.push(violation('ProtocolError', `a message of ${total} bytes; ${MAX_MESSAGE_BYTES} at most`));
  return found;
}

/** 73 (InvalidNamespace). */
export function namespaceViolations(database: string, collection: string): Violation[] {
  const found: Violation[] = [];
  if (database === '' || /[/\\. "$*<>:|?\0]/.test(database) || Buffer.byteLength(database) > 63)
    found.push(violation('InvalidNamespace', `"${database}" cannot be the name of a database`));
  if (collection === '' || /[$\0]/.test(collection) || /^(system\.|\.)|\.$/.test(collection))
    found.push(violation('InvalidNamespace', `"${collection}" cannot be the name of a collection`));
  if (Buffer.byteLength(`${database}.${collection}`) > 255)
    found.push(violation('InvalidNamespace', `"${database}.${collection}" is longer than 255 bytes`));
  return found;
}

/** The paths at which a document holds lists. */
export function listPaths(value: unknown, path = ''): string[] {
  if (Array.isArray(value))
    return [path, ...value.flatMap((one) => (isDocument(one) ? listPaths(one, path) : []))];
  if (!isDocument(value)) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, inner]) =>
    listPaths(inner, path === '' ? name : `${path}.${name}`),
  );
}

function depthOf(value: unknown): number {
  if (!isDocument(value) && !Array.isArray(value)) return 0;
  return 1 + Math.max(0, ...Object.values(value as Record<string, unknown>).map(depthOf));
}
