import type { Document } from 'mongodb';
import { projectionViolations, queryViolations, sortViolations } from './query-rules.js';
import { isDocument, violation } from './rule.js';
import type { Violation } from './rule.js';

const MAX_STAGES = 1_000;
const STAGES = new Set([
  '$match',
  '$group',
  '$sort',
  '$limit',
  '$skip',
  '$project',
  '$unwind',
  '$count',
  '$addFields',
  '$set',
  '$unset',
  '$replaceRoot',
  '$replaceWith',
  '$sortByCount',
  '$bucket',
  '$bucketAuto',
  '$facet',
  '$lookup',
  '$sample',
  '$unionWith',
  '$collStats',
  '$indexStats',
]);
const ACCUMULATORS = new Set([
  '$sum',
  '$avg',
  '$min',
  '$max',
  '$first',
  '$last',
  '$count',
  '$stdDevPop',
  '$stdDevSamp',
  '$mergeObjects',
  '$top',
  '$bottom',
  '$firstN',
  '$lastN',
  '$maxN',
  '$minN',
  '$topN',
  '$bottomN',
]);

/** What a server refuses of `aggregate`. */
export function pipelineViolations(command: Document): Violation[] {
  const pipeline: unknown = command['pipeline'];
  if (!Array.isArray(pipeline)) return [violation('TypeMismatch', 'a pipeline is an array')];
  const found = (pipeline as unknown[]).flatMap(ofStage);
  if (pipeline.length > MAX_STAGES)
    found.push(violation('Location7749501', `${pipeline.length} stages; ${MAX_STAGES} at most`));
  if (!isDocument(command['cursor']) && command['explain'] === undefined)
    found.push(violation('FailedToParse', "the 'cursor' option is required"));
  if (command['allowDiskUse'] === false)
    found.push(
      violation('QueryExceededMemoryLimitNoDiskUseAllowed', 'sorts and groups hold 100 MB without disk use'),
    );
  return found;
}

function ofStage(stage: unknown): Violation[] {
  if (!isDocument(stage) || Object.keys(stage).length !== 1)
    return [violation('Location40323', 'a stage has exactly one field')];
  const [[name, value]] = Object.entries(stage) as [[string, unknown]];
  if (name === '$out' || name === '$merge')
    return [violation('NotSupported', `${name} writes past every guard of a store`)];
  if (!STAGES.has(name)) return [violation('Location40324', `unrecognized pipeline stage name: ${name}`)];
  switch (name) {
    case '$match':
      return queryViolations(value);
    case '$group':
      return groupViolations(value);
    case '$sort':
      return isDocument(value) && Object.keys(value).length > 0
        ? sortViolations(value)
        : [violation('Location15976', '$sort must have at least one sort key')];
    case '$limit':
      return Number.isInteger(value) && (value as number) > 0
        ? []
        : [violation('Location15958', `the limit must be positive, and is ${String(value)}`)];
    case '$skip':
      return Number.isInteger(value) && (value as number) >= 0
        ? []
        : [violation('Location15956', `$skip by ${String(value)}`)];
    case '$project':
      return isDocument(value) && Object.keys(value).length > 0
        ? projectionViolations(computed(value))
        : [violation('Location51272', 'a projection must have at least one field')];
    case '$unwind': {
      const path = isDocument(value) ? (value['path'] as unknown) : value;
      return typeof path === 'string' && /^\$[^$]/.test(path)
        ? []
        : [violation('Location28818', `$unwind of ${String(path)}: a path begins with a dollar`)];
    }
    case '$count':
      return typeof value === 'string' && /^[^$.\0][^.\0]*$/.test(value)
        ? []
        : [violation('Location40156', `$count cannot answer as ${String(value)}`)];
    case '$facet':
      return Object.values(value as Record<string, unknown[]>).flatMap((part) => part.flatMap(ofStage));
    default:
      return [];
  }
}

/** What is computed counts as shown. */
function computed(projection: Document): Document {
  return Object.fromEntries(
    Object.entries(projection as Record<string, unknown>).map(([path, value]) => [
      path,
      typeof value === 'string' || isDocument(value) || Array.isArray(value) ? 1 : value,
    ]),
  );
}

/** 15955 (no _id), 40234/40238 (accumulators), 40235 (dots); and lists within a group, whose memory has a bound. */
function groupViolations(group: unknown): Violation[] {
  if (!isDocument(group)) return [violation('Location15947', 'the fields of a group are an object')];
  const found: Violation[] = [];
  if (!('_id' in group)) found.push(violation('Location15955', 'a group specification must include an _id'));
  for (const [name, value] of Object.entries(group)) {
    if (name === '_id') continue;
    if (name.includes('.') || name.startsWith('$') || name === '')
      found.push(violation('Location40235', `the field name "${name}" cannot be used in $group`));
    const accumulators = isDocument(value) ? Object.keys(value) : [];
    if (accumulators.length !== 1)
      found.push(violation('Location40238', `the field "${name}" must specify one accumulator`));
    else if (accumulators[0] === '$push' || accumulators[0] === '$addToSet')
      found.push(violation('ExceededMemoryLimit', `${accumulators[0]} of "${name}" holds 100 MB at most`));
    else if (!ACCUMULATORS.has(accumulators[0]!))
      found.push(violation('Location15952', `unknown group operator ${accumulators[0]!}`));
  }
  return found;
}
