import { describe, expect, test } from '@jest/globals';
import type { Document } from 'mongodb';
import { explainedForms } from '../../support/mongo-plans/explained-form.js';
import { scansOf } from '../../support/mongo-plans/read-plan.js';

describe('plans of MongoDB', () => {
  const planned = (winningPlan: Document) => ({ queryPlanner: { winningPlan, rejectedPlans: [COLLSCAN] } });
  const COLLSCAN = { stage: 'COLLSCAN', direction: 'forward' };
  const index = (bounds: Document, rest: Document = {}) => ({
    stage: 'FETCH',
    inputStage: { stage: 'IXSCAN', indexName: 'a_1', indexBounds: bounds },
    ...rest,
  });
  const WHOLE = { a: ['[MinKey, MaxKey]'], b: ['[1, 1]'] };

  test.each<[string, Document]>([
    ['an index with bounds', index({ a: ['["x", "x"]'], b: ['[MinKey, MaxKey]'] })],
    ['an _id', { stage: 'IDHACK' }],
    ['an _id in MongoDB 8', { stage: 'EXPRESS_IXSCAN', keyPattern: '{ _id: 1 }' }],
    ['nothing at all', { stage: 'EOF' }],
    ['a walk that ends', { stage: 'LIMIT', limitAmount: 1, inputStage: index(WHOLE) }],
    ['two indexes', { stage: 'OR', inputStages: [index({ a: ['[1, 1]'] }), index({ a: ['[2, 2]'] })] }],
  ])('%s is no scan', (_what, plan) => {
    expect(scansOf(planned(plan))).toEqual([]);
  });

  test.each<[string, Document, string]>([
    ['the collection', COLLSCAN, 'reads the whole collection'],
    ['the collection below a sort', { stage: 'SORT', inputStage: COLLSCAN }, 'reads the whole collection'],
    [
      'the collection below a limited sort',
      { stage: 'LIMIT', inputStage: { stage: 'SORT', inputStage: COLLSCAN } },
      'reads the whole collection',
    ],
    [
      'a limited walk that throws away',
      { stage: 'LIMIT', inputStage: { ...COLLSCAN, filter: { a: 1 } } },
      'reads the whole collection',
    ],
    [
      'one branch',
      { stage: 'OR', inputStages: [index({ a: ['[1, 1]'] }), COLLSCAN] },
      'reads the whole collection',
    ],
    ['an index without bounds', index(WHOLE), 'reads the whole index a_1'],
    ['an index, backwards', index({ a: ['[MaxKey, MinKey]'] }), 'reads the whole index a_1'],
    [
      'an index whose documents are thrown away',
      { stage: 'LIMIT', inputStage: index(WHOLE, { filter: { c: 1 } }) },
      'reads the whole index a_1',
    ],
    [
      'the collection, by the other engine',
      { queryPlan: COLLSCAN, slotBasedPlan: {} },
      'reads the whole collection',
    ],
  ])('reading %s is a scan', (_what, plan, scan) => {
    expect(scansOf(planned(plan))).toEqual([scan]);
  });

  test('an aggregation tells of what feeds it', () => {
    const stages = [{ $cursor: planned(COLLSCAN) }, { $group: { _id: null } }];
    expect(scansOf({ stages })).toEqual(['reads the whole collection']);
  });
});

describe('plans of FerretDB', () => {
  const planned = (Plan: Document) => ({ queryPlanner: { Plan }, ok: 1 });
  const above = (child: Document, rest: Document) => ({ Plans: [child], ...rest });
  const custom = (child: Document, ...indexBounds: string[]) =>
    above(child, {
      'Node Type': 'Custom Scan',
      'Custom Plan Provider': 'DocumentDBApiExplainQueryScan',
      IndexDetails: [{ indexName: 'a_1', indexKey: '{"a": 1}', isMultiKey: false, indexBounds }],
    });
  const INDEX = { 'Node Type': 'Index Scan', 'Index Name': 'a_1', 'Index Cond': '(document @= 1)' };
  const BITMAP = { ...INDEX, 'Node Type': 'Bitmap Index Scan' };
  const SEQUENTIAL = { 'Node Type': 'Seq Scan', Filter: '(document @< 1)' };
  const ofId = (condition: string) => ({
    'Node Type': 'Index Scan',
    'Index Name': '_id_',
    'Index Cond': condition,
  });
  const EVERY_ID = ofId("(shard_key_value = '22968'::bigint)");
  const LIMIT = { 'Node Type': 'Limit' };
  const SORT = { 'Node Type': 'Sort' };

  test.each<[string, Document]>([
    ['an index with bounds', custom(INDEX, '["a": ["x", "x"], "b": (MinKey, MaxKey)]')],
    [
      'a bitmap with bounds',
      custom(above(BITMAP, { 'Node Type': 'Bitmap Heap Scan', Filter: 'f' }), '["a": (MinKey, null]]'),
    ],
    ['an _id', ofId("((shard_key_value = '22968'::bigint) AND (object_id = 'BSONHEX16'))")],
    ['a walk by _id that ends', above(EVERY_ID, LIMIT)],
  ])('%s is no scan', (_what, plan) => {
    expect(scansOf(planned(plan))).toEqual([]);
  });

  test.each<[string, Document, string]>([
    ['the collection', custom(SEQUENTIAL), 'reads the whole collection'],
    [
      'the collection up to a limit, with a filter',
      above(custom(SEQUENTIAL), LIMIT),
      'reads the whole collection',
    ],
    ['every _id', EVERY_ID, 'reads the whole index _id_'],
    ['every _id below a sort', above(above(EVERY_ID, SORT), LIMIT), 'reads the whole index _id_'],
    [
      'every _id, thrown away by a filter',
      above({ ...EVERY_ID, Filter: '(document @= 1)' }, LIMIT),
      'reads the whole index _id_',
    ],
    ['an index without bounds', custom(INDEX, '["a": [MinKey, MaxKey]]'), 'reads the whole index a_1'],
    [
      'one index of two',
      custom(
        above(above(BITMAP, { 'Node Type': 'BitmapAnd' }), { 'Node Type': 'Bitmap Heap Scan' }),
        '["a": (MinKey, MaxKey)]',
      ),
      'reads the whole index a_1',
    ],
  ])('reading %s is a scan', (_what, plan, scan) => {
    expect(scansOf(planned(plan))).toEqual([scan]);
  });
});

test('a plan of no known form is an error, and no good plan', () => {
  expect(() => scansOf({ ok: 1 })).toThrow('not a plan');
});

describe('what is explained', () => {
  const session = { lsid: { id: 1 }, $db: 'shop', writeConcern: { w: 'majority' } };
  test.each<[string, Document, Document[]]>([
    [
      'a find',
      { find: 'rows', filter: { a: 1 }, sort: { b: 1 }, limit: 2, ...session },
      [{ find: 'rows', filter: { a: 1 }, sort: { b: 1 }, limit: 2 }],
    ],
    [
      'an aggregation',
      { aggregate: 'rows', pipeline: [{ $match: { a: 1 } }], cursor: {}, ...session },
      [{ aggregate: 'rows', pipeline: [{ $match: { a: 1 } }], cursor: {} }],
    ],
    [
      'each update',
      {
        update: 'rows',
        updates: [
          { q: { a: 1 }, u: {} },
          { q: { b: 1 }, u: {}, multi: true },
        ],
        ...session,
      },
      [
        { find: 'rows', filter: { a: 1 }, limit: 1 },
        { find: 'rows', filter: { b: 1 } },
      ],
    ],
    [
      'each deletion',
      { delete: 'rows', deletes: [{ q: { a: 1 }, limit: 0 }], ...session },
      [{ find: 'rows', filter: { a: 1 } }],
    ],
    [
      'a find that modifies',
      { findAndModify: 'rows', query: { a: 1 }, sort: { b: 1 }, update: {}, ...session },
      [{ find: 'rows', filter: { a: 1 }, sort: { b: 1 }, limit: 1 }],
    ],
    ['no insert', { insert: 'rows', documents: [{}], ...session }, []],
    ['no further batch', { getMore: 1, collection: 'rows', ...session }, []],
  ])('%s', (_what, command, forms) => {
    expect(explainedForms(command)).toEqual(forms);
  });
});
