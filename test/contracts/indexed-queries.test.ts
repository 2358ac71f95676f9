import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Collection, Filter } from 'mongodb';
import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';

// Whatever indexes a server of MongoDB's protocol answers by, they must answer what reading the whole collection
// answers.

interface Row {
  _id: number;
  [field: string]: unknown;
}

let connection: Awaited<ReturnType<typeof connectMongo>>;
let plain: Collection<Row>;
let indexed: Collection<Row>;

beforeAll(async () => {
  const database = `tamis-test-indexes-${process.pid}-${Date.now()}`;
  connection = await connectMongo({ url: process.env['MONGODB_URL']!, database });
  plain = connection.db.collection('plain');
  indexed = connection.db.collection('indexed');
  await indexed.createIndexes([
    { key: { a: 1, b: 1, c: 1 } },
    { key: { b: -1, _id: -1 } },
    { key: { c: 1 }, sparse: true },
    { key: { 'd.e': 1, a: 1 } },
    { key: { u: 1, b: 1 }, unique: true },
  ]);
}, 30_000);
afterAll(async () => {
  await connection?.db.dropDatabase();
  await connection?.close();
});

// Few values, so that most questions have answers and most orders have ties.
const scalar = fc.constantFrom<unknown>(null, 0, 1, 2, 1.5, 'x', 'y', new Date(0));
const value = fc.oneof(
  { weight: 15, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
);
const record = fc.record(
  {
    a: value,
    b: scalar,
    c: scalar,
    d: fc.oneof(
      scalar,
      fc.record({ e: value }, { requiredKeys: [] }),
      fc.array(fc.record({ e: scalar }), { maxLength: 2 }),
    ),
  },
  { requiredKeys: [] },
);
const comparable = scalar.filter((one) => one !== null);
const condition = fc.oneof(
  scalar,
  fc.record({ $eq: scalar }),
  fc.record({ $ne: scalar }),
  fc.record({ $in: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ $exists: fc.boolean() }),
  fc
    .record({ $gte: comparable, $lt: comparable }, { requiredKeys: [] })
    .filter((one) => Object.keys(one).length > 0),
  fc
    .record({ $gt: comparable, $lte: comparable }, { requiredKeys: [] })
    .filter((one) => Object.keys(one).length > 0),
  fc.constant({ $gt: 0, $ne: 2 }),
  fc.constant(/x/),
);
const someIds = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 12 });
const asked = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(fc.constantFrom('a', 'b', 'c', 'd.e'), condition) },
  { weight: 1, arbitrary: someIds.map((ids) => ['_id', { $in: ids }] as [string, unknown]) },
);
const conditions = fc
  .uniqueArray(asked, { minLength: 1, maxLength: 3, selector: ([field]) => field })
  .map((entries) => Object.fromEntries(entries) as object);
const query = fc.oneof(
  { weight: 4, arbitrary: conditions },
  { weight: 1, arbitrary: fc.record({ $or: fc.array(conditions, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(conditions, fc.array(conditions, { minLength: 1, maxLength: 2 }))
      .map(([all, any]) => ({ ...all, $or: any })),
  },
);
const direction = fc.constantFrom(1 as const, -1 as const);
const order = fc.oneof(
  direction.map((way) => ({ b: way, _id: way })),
  direction.map((way) => ({ a: way, b: way, c: way, _id: way })),
  fc.tuple(direction, direction).map(([b, id]) => ({ b, _id: id })),
  direction.map((way) => ({ c: way, _id: way })),
);
const change = fc
  .record({ a: value, b: scalar, c: scalar }, { requiredKeys: [] })
  .filter((one) => Object.keys(one).length > 0);

async function both<T>(ask: (collection: Collection<Row>) => Promise<T>): Promise<[T, T]> {
  return Promise.all([ask(plain), ask(indexed)]);
}

async function refill(records: object[]): Promise<void> {
  const documents = records.map((each, index) => ({ _id: index, u: index, ...each }));
  await both(async (collection) => {
    await collection.deleteMany({});
    if (documents.length > 0) await collection.insertMany(documents.map((each) => structuredClone(each)));
  });
}

test('an index changes no answer: whatever is asked, sorted, cut, counted, changed and removed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 20, maxLength: 60, size: 'max' }),
      fc.array(
        fc.record({
          query,
          order,
          skip: fc.integer({ min: 0, max: 3 }),
          limit: fc.integer({ min: 0, max: 5 }),
        }),
        { minLength: 4, maxLength: 8 },
      ),
      fc.record({ query, change, removal: query }),
      async (records, questions, { query: changed, change: to, removal }) => {
        await refill(records);
        const same = async (): Promise<void> => {
          for (const { query: asked, order: sort, skip, limit } of questions) {
            const filter = asked as Filter<Row>;
            const [want, got] = await both((collection) =>
              collection.find(filter).sort(sort).skip(skip).limit(limit).toArray(),
            );
            expect(got).toEqual(want);
            const [all, found] = await both((collection) =>
              collection.aggregate([{ $match: filter }, { $sort: { _id: 1 } }]).toArray(),
            );
            expect(found).toEqual(all);
            const [many, count] = await both((collection) => collection.countDocuments(filter));
            expect(count).toBe(many);
          }
        };
        await same();
        const [want, got] = await both((collection) =>
          collection.updateMany(changed as Filter<Row>, { $set: to }),
        );
        expect(got.modifiedCount).toBe(want.modifiedCount);
        await same();
        const [gone, removed] = await both((collection) => collection.deleteMany(removal as Filter<Row>));
        expect(removed.deletedCount).toBe(gone.deletedCount);
        await same();
      },
    ),
    { numRuns: 100 },
  );
}, 120_000);
