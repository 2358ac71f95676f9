import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import type { Document } from 'mongodb';
import { ensureIndexes } from '../../activities/stores/mongo/ensure-indexes.js';
import { connectWatched } from '../support/mongo-rules/watched-connection.js';
import { explainedForms } from '../support/mongo-plans/explained-form.js';
import { fillDatabase, storesOf } from '../support/mongo-plans/fill-database.js';
import { LEFT_OUT, hotAsks } from '../support/mongo-plans/hot-asks.js';
import { scansOf } from '../support/mongo-plans/read-plan.js';
import { until } from '../support/until.js';

/** What may be read whole, and why that costs little however long the service is in use. */
const SMALL: readonly (readonly [scan: RegExp, why: string])[] = [
  [/^(users|partitions|workspaces) .* index deleted_at_1$/, 'holds those alone that are being deleted'],
  [/^files .* index tombstone_at_1$/, 'holds the tombstones alone'],
  [/^api_keys /, 'keys that a person has named'],
  [/^logins (remember|block): /, 'one record a local API, at a login that CAPI answered: a few a minute'],
  [/^alert_scenarios /, 'some dozens of names'],
  [/^alert_marks /, 'holds what is not counted yet, all of which is read'],
  [/^alert_hours /, 'one document an hour'],
  [/^alerts readBack: .* index _id_$/, 'ends at its limit: what it leaves out is rare'],
  [/^worker_restarts /, 'one document a pool'],
];
/**
 * A server that gathers statistics by itself has done so some time after a bulk load: PostgreSQL looks every minute
 * unless set otherwise, and until then takes a lookup by a unique index for dearer than a walk by _id.
 */
const STATISTICS_MS = 2 * 60_000;

const onMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? test.skip : test;
let connection: Awaited<ReturnType<typeof connectWatched>> | undefined;

beforeAll(async () => {
  if (process.env['TAMIS_FAKES_ONLY'] === '1') return;
  const database = `tamis-test-plans-${process.pid}-${Date.now().toString(36)}`;
  connection = await connectWatched({ url: process.env['MONGODB_URL']!, database });
  await fillDatabase(connection.db);
  await ensureIndexes(connection.db);
}, 15 * 60_000);
afterAll(async () => {
  await connection?.db.dropDatabase();
  await connection?.close();
}, 60_000);

/** What each ask sends, by the name of the ask. */
async function collectForms({
  client,
  db,
}: NonNullable<typeof connection>): Promise<Map<string, Document[]>> {
  let sent: Document[] = [];
  const collect = ({ command }: { command: Document }): void => void sent.push(...explainedForms(command));
  client.on('commandStarted', collect);
  const forms = new Map<string, Document[]>();
  try {
    for (const [name, ask] of hotAsks(storesOf(db))) {
      sent = [];
      await ask();
      forms.set(name, sent);
    }
  } finally {
    client.off('commandStarted', collect);
  }
  return forms;
}

test('every method of the stores is asked, or left out for a reason', () => {
  const stores = storesOf(new MongoClient('mongodb://127.0.0.1:1').db('unused'));
  const asked = hotAsks(stores).map(([name]) => name.split(/[ ,]/)[0]!);
  const methods = Object.entries(stores).flatMap(([store, of]) =>
    Object.keys(of).map((method) => `${store}.${method}`),
  );
  expect([...new Set([...asked, ...Object.keys(LEFT_OUT)])].sort()).toEqual(methods.sort());
  expect(asked.filter((name) => name in LEFT_OUT)).toEqual([]);
});

onMongo(
  'at 20,000 alerts, files and tasks no hot query reads a whole collection or index',
  async () => {
    const forms = await collectForms(connection!);
    const { db } = connection!;
    const scansOfForm = async (name: string, form: Document): Promise<string[]> => {
      const [collection] = Object.values(form) as string[];
      return scansOf(await db.command({ explain: form }))
        .map((scan) => `${collection} ${name.slice(name.indexOf('.') + 1)}: ${scan}`)
        .filter((scan) => !SMALL.some(([known]) => known.test(scan)));
    };
    let left = [...forms].flatMap(([name, asked]) => asked.map((form) => ({ name, form, scans: [''] })));
    expect(left.length).toBeGreaterThan(forms.size);
    await until(
      'every plan has bounds',
      async () => {
        const looked = [];
        for (const { name, form } of left) looked.push({ name, form, scans: await scansOfForm(name, form) });
        left = looked.filter(({ scans }) => scans.length > 0);
        return left.length === 0;
      },
      { withinMs: STATISTICS_MS, everyMs: 1_000 },
    ).catch(() => undefined);
    expect([...new Set(left.flatMap(({ scans }) => scans))]).toEqual([]);
    expect(connection!.refused()).toEqual([]);
  },
  STATISTICS_MS + 5 * 60_000,
);
