import { expect, test } from '@jest/globals';
import type { Db } from 'mongodb';
import { createMongoRecordArchive } from '../../../activities/stores/mongo/backups/record-archive.js';
import { BUILTIN_ENDPOINTS } from '../../../activities/models/builtin/builtin-endpoints.js';
import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';

type Unlike = Record<string, { $ne: unknown }>;

/** One record of each collection, that is counted where each field of the filter differs. */
function holding(record: ModelEndpoint): Db {
  const countDocuments = async (filter: Unlike) =>
    Number(Object.entries(filter).every(([field, { $ne }]) => record[field as keyof ModelEndpoint] !== $ne));
  return { collection: () => ({ countDocuments }) } as unknown as Db;
}

const [BUILTIN] = BUILTIN_ENDPOINTS;
const { seeded: _, ...UNMARKED } = BUILTIN!;
const FOUND: ModelEndpoint = { ...UNMARKED, endpoint: 'http://ollama:11434', provider: 'ollama' };

test.each<[what: string, holds: boolean, record: ModelEndpoint]>([
  ['built in', false, BUILTIN!],
  ['built in, by an earlier release', false, UNMARKED],
  ['found behind OLLAMA_HOST', false, { ...FOUND, seeded: true }],
  ['of the environment', false, { ...FOUND, name: 'default', provider: null, seeded: true }],
  ['behind Ollama, registered by an administrator', true, { ...FOUND, name: 'gpu-2' }],
  ['of the environment, edited by an administrator', true, { ...FOUND, name: 'default' }],
])('a model endpoint that is %s stops a restore: %s', async (_what, holds, record) => {
  expect(await createMongoRecordArchive(holding(record)).hasRecords('model_endpoints')).toBe(holds);
});
