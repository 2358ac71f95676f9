import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { askStack } from '../support/ask-stack.js';
import { generatedCorpus } from '../support/campaign-corpus.js';
import { makeAuthorities } from '../support/certificates.js';
import { documentClient } from '../support/document-client.js';
import { migrateSchemaTwo } from '../support/migration-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { closer } from './support/engine-process.js';
import { startSecuredMongodb } from './support/secured-mongodb.js';
import { startSecuredOpenSearch } from './support/secured-opensearch.js';
import { SERVER_NAME, startSecuredTemporal } from './support/secured-temporal.js';

const PREFIX = 'tamis-secured-';

/** As docs/operations.md names the rights that its user needs, and no more. */
const RIGHTS = {
  cluster_permissions: ['cluster_composite_ops', 'cluster_monitor', 'indices:data/write/reindex'],
  index_permissions: [{ index_patterns: [`${PREFIX}*`], allowed_actions: ['indices_all'] }],
};
const PASSWORDS = {
  opensearch: `o-${randomBytes(9).toString('hex')}`,
  mongodb: `m-${randomBytes(9).toString('hex')}`,
};

const closing = closer();
let capi: StandInCapi;
let environment: Record<string, string>;
let stack: RunningStack;
beforeAll(async () => {
  const authorities = makeAuthorities();
  closing.add(() => authorities.close());
  capi = await createStandInCapi();
  closing.add(() => capi.close());
  const opensearch = await startSecuredOpenSearch(authorities);
  closing.add(() => opensearch.close());
  await opensearch.addUser('tamis', PASSWORDS.opensearch, RIGHTS);
  const account = { user: 'gateway', password: PASSWORDS.mongodb };
  const mongodb = await startSecuredMongodb(authorities, account);
  closing.add(() => mongodb.close());
  const temporal = await startSecuredTemporal(authorities);
  closing.add(() => temporal.close());
  const client = authorities.own.issue('tamis');
  environment = {
    CAPI_URL: capi.url,
    MONGODB_URL: mongodb.urlOf(account),
    MONGODB_CA_FILE: authorities.own.ca,
    OPENSEARCH_URL: opensearch.url,
    OPENSEARCH_USERNAME: 'tamis',
    OPENSEARCH_PASSWORD: PASSWORDS.opensearch,
    OPENSEARCH_CA_FILE: authorities.own.ca,
    OPENSEARCH_CLIENT_CERT_FILE: client.certificate,
    OPENSEARCH_CLIENT_KEY_FILE: client.key,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_API_KEY: temporal.issueKey(['default:write']),
    TEMPORAL_ENCRYPT_PAYLOADS: 'true',
    TEMPORAL_TLS_SERVER_NAME: SERVER_NAME,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authorities.own.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: client.certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
  };
}, 600_000);
afterAll(() => closing.all(), 120_000);

test('both jobs run on secured engines, with the rights that the handbook names', async () => {
  stack = await openStack({ ...environment, OPENSEARCH_INDEX_PREFIX: `${PREFIX}one-` });
  closing.add(() => stack.close());
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  const client = documentClient(stack);

  const text = '# Mill\n\nThe millstones are dressed every six weeks.';
  const uploaded = await client.upload('POST', 'mill', 'guide', text, 'guide.md', { shelf: 'one' });
  expect((await client.ended(uploaded)).task_state).toBe('COMPLETED');
  const found = await client.search('/search/partition/mill', {
    text: 'How often are the millstones dressed?',
  });
  expect(found[0]).toMatchObject({ content: expect.stringContaining('six weeks') });
  const chat = await askStack<object>(stack, 'POST', '/v1/chat/completions', {
    model: 'rag-mill',
    messages: [{ role: 'user', content: 'How often are the millstones dressed?' }],
  });
  expect([chat.status, JSON.stringify(chat.body)]).toEqual([200, expect.stringContaining('six weeks')]);

  const changed = await client.send('PUT', 'mill', 'guide', '# Mill\n\nNow every four weeks.', 'guide.md');
  const { task_status_url: url } = (await changed.json()) as { task_status_url: string };
  expect((await client.ended(url)).task_state).toBe('COMPLETED');
  const deleted = await stack.request('/indexer/partition/mill/file/guide', { method: 'DELETE' });
  expect(deleted.status).toBe(204);

  const lapi = signalClient(stack.base, 'secured');
  await lapi.login();
  expect((await lapi.push([sampleSignal(1), sampleSignal(2)])).status).toBe(200);
  const received = () => capi.received('secured').flatMap(({ items }) => items);
  await until('the signals have arrived', async () => received().length === 2, { withinMs: 60_000 });

  const ready = await stack.request('/ready');
  expect([ready.status, await ready.json()]).toEqual([
    200,
    expect.not.objectContaining({ problems: expect.anything() }),
  ]);
  for (const secret of [...Object.values(PASSWORDS), environment['TEMPORAL_API_KEY']!])
    expect(stack.logs()).not.toContain(secret);
}, 300_000);

test('the vector store is migrated with the same rights', async () => {
  const migrated = await openStack({ ...environment, OPENSEARCH_INDEX_PREFIX: `${PREFIX}two-` });
  try {
    const { fill, questions } = generatedCorpus({ files: 4, paragraphs: 50 });
    const report = await migrateSchemaTwo(migrated, {
      fill,
      questions,
      embedder: 'builtin-hash',
      kills: 0,
      pagesPerSecond: null,
    });
    expect(report.faults).toEqual([]);
    expect(report.run.state).toBe('completed');
  } finally {
    await migrated.close();
  }
}, 300_000);
