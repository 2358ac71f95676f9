import { describe, expect, test } from '@jest/globals';
import { Binary, Long } from 'mongodb';
import type { Document } from 'mongodb';
import { createCommandChecker } from '../../support/mongo-rules/command-checker.js';

/** The names of what is wrong with the last of these commands. */
function errorsOf(...commands: Document[]): string[] {
  const checker = createCommandChecker();
  const found = commands.map((command) => checker.check('shop', command));
  return found.at(-1)!.map(({ error }) => error);
}

function indexes(...list: Document[]) {
  return { createIndexes: 'rows', indexes: list };
}

function find(filter: Document, options: Document = {}) {
  return { find: 'rows', filter, ...options };
}

function update(q: Document, u: unknown, options: Document = {}) {
  return {
    update: 'rows',
    updates: [{ q, u, ...options }],
  };
}

function modify(query: Document, change: unknown, options: Document = {}) {
  return {
    findAndModify: 'rows',
    query,
    update: change,
    ...options,
  };
}

function insert(...documents: Document[]) {
  return { insert: 'rows', documents };
}

function aggregate(...pipeline: Document[]) {
  return { aggregate: 'rows', pipeline, cursor: {} };
}

function fields(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { a: nested(levels - 1) };
}

type Case = [what: string, error: string, ...commands: Document[]];

describe('indexes', () => {
  const refused: Case[] = [
    ['the same twice', 'IndexAlreadyExists', indexes({ key: { a: 1 } }, { key: { a: 1 } })],
    [
      'the same twice, as maps',
      'IndexAlreadyExists',
      indexes({ key: new Map([['a', 1]]) }, { key: new Map([['a', 1]]) }),
    ],
    ['one key, two names', 'IndexAlreadyExists', indexes({ key: { a: 1 } }, { key: { a: 1 }, name: 'x' })],
    [
      'one key with other options',
      'IndexOptionsConflict',
      indexes({ key: { a: 1 }, name: 'x' }, { key: { a: 1 }, expireAfterSeconds: 9 }),
    ],
    [
      'a name for two',
      'IndexKeySpecsConflict',
      indexes({ key: { a: 1 }, name: 'x' }, { key: { b: 1 }, name: 'x' }),
    ],
    [
      'two whose names come out the same',
      'IndexKeySpecsConflict',
      indexes({ key: { a_1_b: 1 } }, { key: { a: 1, b: 1 } }),
    ],
    [
      'another one over one that is there',
      'IndexOptionsConflict',
      indexes({ key: { a: 1 } }),
      indexes({ key: { a: 1 }, name: 'x' }),
    ],
    ['no field', 'CannotCreateIndex', indexes({ key: {} })],
    ['no direction', 'CannotCreateIndex', indexes({ key: { a: 0 } })],
    ['an unknown kind', 'CannotCreateIndex', indexes({ key: { a: 'up' } })],
    ['an empty part', 'EmptyFieldName', indexes({ key: { 'a..b': 1 } })],
    ['a dollar', 'DollarPrefixedFieldName', indexes({ key: { 'a.$b': 1 } })],
    ['33 fields', 'Location13103', indexes({ key: fields(33), name: 'x' })],
    ['the name of all', 'CannotCreateIndex', indexes({ key: { a: 1 }, name: '*' })],
    ['an empty name', 'CannotCreateIndex', indexes({ key: { a: 1 }, name: '' })],
    [
      'sparse and partial',
      'CannotCreateIndex',
      indexes({ key: { a: 1 }, sparse: true, partialFilterExpression: { a: { $exists: true } } }),
    ],
    ...[{ a: { $exists: false } }, { a: { $ne: 1 } }, { a: /x/ }, { $nor: [{ a: 1 }] }].map(
      (expression): Case => [
        `bounded by ${JSON.stringify(expression)}`,
        'CannotCreateIndex',
        indexes({ key: { a: 1 }, partialFilterExpression: expression }),
      ],
    ),
    ['expiry by two fields', 'CannotCreateIndex', indexes({ key: { a: 1, b: 1 }, expireAfterSeconds: 9 })],
    ['expiry before now', 'CannotCreateIndex', indexes({ key: { a: 1 }, expireAfterSeconds: -1 })],
    ['expiry by _id', 'InvalidIndexSpecificationOption', indexes({ key: { _id: 1 }, expireAfterSeconds: 9 })],
    ['an unknown option', 'InvalidIndexSpecificationOption', indexes({ key: { a: 1 }, uniq: true })],
    ['a unique hashed one', 'CannotCreateIndex', indexes({ key: { a: 'hashed' }, unique: true })],
    [
      'the 65th',
      'CannotCreateIndex',
      indexes(...Array.from({ length: 63 }, (_, i) => ({ key: { [`f${i}`]: 1 } }))),
      indexes({ key: { g: 1 } }),
    ],
  ];
  test.each(refused)('%s: %s', (_what, error, ...commands) => {
    expect(errorsOf(...commands)).toContain(error);
  });

  test.each<[string, ...Document[]]>([
    ['again as they are', indexes({ key: { a: 1 } }), indexes({ key: { a: 1 } })],
    ['32 fields', indexes({ key: fields(32), name: 'x' })],
    ['both directions', indexes({ key: { a: 1, b: -1 } }, { key: { b: -1, a: 1 } })],
    ['a bounded one', indexes({ key: { a: 1 }, partialFilterExpression: { a: { $gt: 5 }, b: 'x' } })],
    ['an expiring one', indexes({ key: { a: 1 }, expireAfterSeconds: 0 })],
    ['64 with that of _id', indexes(...Array.from({ length: 63 }, (_, i) => ({ key: { [`f${i}`]: 1 } })))],
  ])('allowed: %s', (_what, ...commands) => {
    expect(errorsOf(...commands)).toEqual([]);
  });

  test('two lists under one index', () => {
    const both = indexes({ key: { a: 1, 'b.c': 1 } });
    expect(errorsOf(both, insert({ a: [1], b: [{ c: 1 }] }))).toEqual(['CannotIndexParallelArrays']);
    expect(errorsOf(both, insert({ a: [1], b: { c: 1 } }))).toEqual([]);
    expect(errorsOf(both, insert({ b: [] }), update({}, { $set: { a: [1] } }))).toEqual([
      'CannotIndexParallelArrays',
    ]);
  });
});

describe('queries', () => {
  test.each<Case>([
    ['code', 'NotSupported', find({ $where: 'true' })],
    ['$in of no list', 'BadValue', find({ a: { $in: 1 } })],
    ['$in of operators', 'BadValue', find({ a: { $in: [{ $gt: 1 }] } })],
    ['no branches', 'BadValue', find({ $or: [] })],
    ['a bad branch', 'BadValue', find({ $and: [{ a: { $near: 1, $bogus: 1 } }] })],
    ['an unknown operator', 'BadValue', find({ a: { $like: 'x' } })],
    ['operator and field mixed', 'BadValue', find({ a: { $gt: 1, b: 2 } })],
    ['an unknown top operator', 'BadValue', find({ $set: { a: 1 } })],
    ['$ne of a pattern', 'BadValue', find({ a: { $ne: /x/ } })],
    ['$not of a value', 'BadValue', find({ a: { $not: 1 } })],
    ['$options alone', 'BadValue', find({ a: { $options: 'i' } })],
    ['an unknown flag', 'BadValue', find({ a: { $regex: 'x', $options: 'g' } })],
    ['a NUL in a pattern', 'BadValue', find({ a: { $regex: 'x\0' } })],
    ['an escape of JavaScript', 'Location51091', find({ a: { $regex: '\\u00e9' } })],
    ['undefined', 'BadValue', find({ a: undefined })],
    ['a negative $size', 'BadValue', find({ a: { $size: -1 } })],
    ['an empty part', 'EmptyFieldName', find({ 'a.': 1 })],
    ['a dollar within a path', 'DollarPrefixedFieldName', find({ 'a.$set': 1 })],
    ['no document', 'TypeMismatch', { find: 'rows', filter: [] }],
    ['a negative limit', 'BadValue', find({}, { limit: -1 })],
    ['a broken skip', 'BadValue', find({}, { skip: 1.5 })],
    ['a hint of no index', 'BadValue', find({}, { hint: { a: 1 } })],
    ['a hint by a name of none', 'BadValue', find({}, { hint: 'a_1' })],
    ['a collation', 'NotSupported', find({}, { collation: { locale: 'fr' } })],
    ['a transaction', 'NotSupported', find({}, { startTransaction: true, autocommit: false })],
    ['a tailable cursor', 'NotSupported', find({}, { tailable: true })],
    ['a mixed projection', 'Location31254', find({}, { projection: { a: 1, b: 0 } })],
    ['a colliding projection', 'Location31249', find({}, { projection: { a: 1, 'a.b': 1 } })],
    ['the natural order', 'NotSupported', find({}, { sort: { $natural: 1 } })],
    ['no direction', 'Location15975', find({}, { sort: { a: 'up' } })],
    ['33 sort keys', 'BadValue', find({}, { sort: fields(33) })],
    ['a bad deletion', 'BadValue', { delete: 'rows', deletes: [{ q: { a: { $in: 1 } }, limit: 1 }] }],
    ['a bad count', 'BadValue', { count: 'rows', query: { $or: [] } }],
    ['an unknown command', 'CommandNotFound', { fetch: 'rows' }],
    ['a database with a dot', 'InvalidNamespace', { find: 'sys$rows' }],
    ['a collection of the server', 'InvalidNamespace', { find: 'system.rows' }],
  ])('%s: %s', (_what, error, ...commands) => {
    expect(errorsOf(...commands)).toContain(error);
  });

  test.each<[string, ...Document[]]>([
    [
      'what stores ask',
      find({
        $or: [{ a: null }, { 'b.c': { $lt: new Date() } }, { b: { $in: [null, 1] }, c: { $ne: 2 } }],
        'list.3': { $exists: false },
        bytes: new Binary(Buffer.from('x')),
        text: { $regex: 'a\\.b\\x00' },
      }),
    ],
    ['an embedded document', find({ a: { b: 1 } })],
    [
      'all without _id',
      find({}, { projection: { _id: 0, a: 1, 'b.c': 1 }, sort: { a: -1, _id: 1 }, limit: 0 }),
    ],
    ['a known hint', indexes({ key: { a: 1 } }), find({}, { hint: { a: 1 } })],
    [
      '$elemMatch',
      find({ a: { $elemMatch: { b: 1, c: { $gt: 2 } } }, b: { $elemMatch: { $gt: 1, $lt: 3 } } }),
    ],
    ['$not', find({ a: { $not: { $gt: 1 } }, b: { $not: /x/ } })],
  ])('allowed: %s', (_what, ...commands) => {
    expect(errorsOf(...commands)).toEqual([]);
  });
});

describe('updates', () => {
  test.each<Case>([
    ['a path twice', 'ConflictingUpdateOperators', update({}, { $set: { a: 1 }, $inc: { a: 1 } })],
    ['a path within another', 'ConflictingUpdateOperators', update({}, { $set: { a: 1, 'a.b': 1 } })],
    [
      'a path and its list',
      'ConflictingUpdateOperators',
      modify({}, { $set: { a: [] }, $addToSet: { a: 1 } }),
    ],
    ['a renamed path', 'ConflictingUpdateOperators', update({}, { $rename: { a: 'b' }, $set: { b: 1 } })],
    ['another _id', 'ImmutableField', update({ _id: 1 }, { $set: { _id: 2 } })],
    ['no _id', 'ImmutableField', update({ _id: 1 }, { $unset: { _id: '' } })],
    [
      'another _id inserted',
      'ImmutableField',
      update({ _id: 1 }, { $setOnInsert: { _id: 2 } }, { upsert: true }),
    ],
    ['a replacement of the _id', 'ImmutableField', update({ _id: 1 }, { _id: 2, a: 1 })],
    ['a replacement of many', 'FailedToParse', update({}, { a: 1 }, { multi: true })],
    ['an unknown operator', 'FailedToParse', update({}, { $put: { a: 1 } })],
    ['operator and field mixed', 'FailedToParse', update({}, { $set: { a: 1 }, b: 2 })],
    ['an operator on a value', 'FailedToParse', update({}, { $set: 1 })],
    ['an empty part', 'EmptyFieldName', update({}, { $set: { '': 1 } })],
    ['a dollar', 'DollarPrefixedFieldName', update({}, { $set: { 'a.$b': 1 } })],
    ['$inc by text', 'TypeMismatch', update({}, { $inc: { a: '1' } })],
    ['an unasked position', 'BadValue', update({ a: 1 }, { $set: { 'list.$.b': 1 } })],
    ['a position in an upsert', 'BadValue', update({ list: 1 }, { $set: { 'list.$': 2 } }, { upsert: true })],
    ['a position without a filter', 'BadValue', update({}, { $set: { 'list.$[one].b': 1 } })],
    ['a list without an end', 'BSONObjectTooLarge', update({}, { $push: { a: 1 } })],
    ['a set without an end', 'BSONObjectTooLarge', modify({}, { $addToSet: { a: 1 } })],
    ['$slice without $each', 'BadValue', update({}, { $push: { a: { $slice: -5 } } })],
    ['an unknown clause', 'BadValue', update({}, { $push: { a: { $each: [1], $slice: 2, $max: 3 } } })],
    ['$addToSet with $slice', 'BadValue', update({}, { $addToSet: { a: { $each: [1], $slice: 2 } } })],
    ['undefined', 'BadValue', update({}, { $set: { a: undefined } })],
    ['a pipeline that groups', 'InvalidOptions', update({}, [{ $group: { _id: 1 } }])],
    [
      'an upsert that asks twice',
      'NotSingleValueField',
      update({ 'a.b': 1, $and: [{ a: { b: 1 } }] }, { $set: { c: 1 } }, { upsert: true }),
    ],
    ['a bad filter', 'BadValue', modify({ a: { $in: 1 } }, { $set: { b: 1 } })],
    ['neither removed nor updated', 'FailedToParse', { findAndModify: 'rows', query: {} }],
    [
      'the new one of a removal',
      'FailedToParse',
      { findAndModify: 'rows', query: {}, remove: true, new: true },
    ],
  ])('%s: %s', (_what, error, ...commands) => {
    expect(errorsOf(...commands)).toContain(error);
  });

  test.each<[string, ...Document[]]>([
    ['nothing to set, since MongoDB 5', update({ _id: 1 }, { $set: {} })],
    ['neighbours', update({}, { $set: { 'a.b': 1, 'a.c': 2, ab: 3 }, $inc: { n: Long.fromNumber(1) } })],
    ['a position that is asked for', update({ 'list.id': 1 }, { $set: { 'list.$.b': 1 } })],
    ['a filtered position', update({}, { $set: { 'l.$[one].b': 1 } }, { arrayFilters: [{ 'one.id': 1 }] })],
    ['a cut list', update({}, { $push: { a: { $each: [1], $slice: -5 } } })],
    ['an _id that is inserted', update({ a: 1 }, { $setOnInsert: { _id: 2 } }, { upsert: true })],
    ['an upsert', modify({ _id: 'x', n: { $gt: 1 } }, { $inc: { n: 1 } }, { upsert: true, new: true })],
    ['a removal', { findAndModify: 'rows', query: { _id: 1 }, remove: true }],
    ['a replacement', update({ _id: 1 }, { a: { $b: 1 } }, { upsert: true })],
  ])('allowed: %s', (_what, ...commands) => {
    expect(errorsOf(...commands)).toEqual([]);
  });
});

describe('pipelines', () => {
  test.each<Case>([
    ['$out', 'NotSupported', aggregate({ $match: {} }, { $out: 'other' })],
    ['$merge', 'NotSupported', aggregate({ $merge: { into: 'other' } })],
    ['an unknown stage', 'Location40324', aggregate({ $filter: {} })],
    ['two stages in one', 'Location40323', aggregate({ $match: {}, $limit: 1 })],
    ['a bad match', 'BadValue', aggregate({ $match: { a: { $in: 1 } } })],
    ['$limit of 0', 'Location15958', aggregate({ $limit: 0 })],
    ['a negative $skip', 'Location15956', aggregate({ $skip: -1 })],
    ['an empty $sort', 'Location15976', aggregate({ $sort: {} })],
    ['a group without _id', 'Location15955', aggregate({ $group: { n: { $sum: 1 } } })],
    ['a dotted group field', 'Location40235', aggregate({ $group: { _id: 1, 'a.b': { $sum: 1 } } })],
    ['no accumulator', 'Location40238', aggregate({ $group: { _id: 1, a: '$a' } })],
    ['an unknown accumulator', 'Location15952', aggregate({ $group: { _id: 1, a: { $total: 1 } } })],
    ['a list of all', 'ExceededMemoryLimit', aggregate({ $group: { _id: 1, a: { $push: '$a' } } })],
    ['an empty projection', 'Location51272', aggregate({ $project: {} })],
    ['$unwind of no path', 'Location28818', aggregate({ $unwind: 'a' })],
    ['$count as a path', 'Location40156', aggregate({ $count: 'a.b' })],
    ['a bad facet', 'Location15958', aggregate({ $facet: { a: [{ $limit: 0 }] } })],
    ['no cursor', 'FailedToParse', { aggregate: 'rows', pipeline: [] }],
    [
      '100 MB and no more',
      'QueryExceededMemoryLimitNoDiskUseAllowed',
      { ...aggregate({ $match: {} }), allowDiskUse: false },
    ],
    ['1,001 stages', 'Location7749501', aggregate(...Array.from({ length: 1001 }, () => ({ $skip: 0 })))],
  ])('%s: %s', (_what, error, ...commands) => {
    expect(errorsOf(...commands)).toContain(error);
  });

  test('allowed: what stores ask', () => {
    const pipeline = [
      { $match: { at: { $gte: new Date(0) } } },
      { $unwind: '$list' },
      { $group: { _id: { a: { $concat: ['=', '$a'] } }, n: { $sum: 1 }, first: { $min: '$at' } } },
      { $project: { _id: 0, a: '$_id.a', n: 1 } },
      { $sort: { n: -1 } },
      { $skip: 0 },
      { $limit: 1 },
    ];
    expect(errorsOf({ ...aggregate(...pipeline), allowDiskUse: true })).toEqual([]);
  });
});

describe('documents and sizes', () => {
  const bytes = (count: number) => new Binary(Buffer.alloc(count));
  test.each<Case>([
    ['17 MB', 'BSONObjectTooLarge', insert({ data: bytes(17 << 20) })],
    ['a replacement of 17 MB', 'BSONObjectTooLarge', update({}, { data: bytes(17 << 20) })],
    ['a filter of 17 MB', 'BSONObjectTooLarge', find({ _id: { $in: ['x'.repeat(17 << 20)] } })],
    ['an update of 17 MB', 'BSONObjectTooLarge', update({ _id: 1 }, { $set: { data: bytes(17 << 20) } })],
    [
      'a message of 60 MB',
      'ProtocolError',
      insert(...Array.from({ length: 6 }, () => ({ data: bytes(10 << 20) }))),
    ],
    ['an empty batch', 'InvalidLength', insert()],
    ['a batch of 100,001', 'InvalidLength', insert(...Array.from({ length: 100_001 }, () => ({})))],
    ['a dollar on top', 'DollarPrefixedFieldName', insert({ $a: 1 })],
    ['a list as _id', 'InvalidIdField', insert({ _id: [1] })],
    ['a dollar in the _id', 'DollarPrefixedFieldName', insert({ _id: { $a: 1 } })],
    ['101 levels', 'Overflow', insert({ a: nested(100) })],
  ])('%s: %s', (_what, error, ...commands) => {
    expect(errorsOf(...commands)).toContain(error);
  });

  test.each<[string, ...Document[]]>([
    ['15 MB', insert({ data: bytes(15 << 20) })],
    ['100 levels', insert({ a: nested(99) })],
    ['dots and inner dollars', insert({ 'a.b': 1, c: { $d: 1 } })],
  ])('allowed: %s', (_what, ...commands) => {
    expect(errorsOf(...commands)).toEqual([]);
  });
});
