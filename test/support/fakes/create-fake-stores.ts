import { createFakeBlobStore } from './fake-blob-store.js';
import { createFakeCallbackStore } from './fake-callback-store.js';
import { createFakeChunkStore } from './fake-chunk-store.js';
import { createFakeClaimStore } from './fake-claim-store.js';
import { createFakeCounterStore } from './fake-counter-store.js';
import { createFakeFileStore } from './fake-file-store.js';
import { createFakeModelEndpointStore } from './fake-model-endpoint-store.js';
import { createFakePartitionStore } from './fake-partition-store.js';
import { createFakeQuotaStore } from './fake-quota-store.js';
import { createFakePresetStore } from './fake-preset-store.js';
import { createFakePromptStore } from './fake-prompt-store.js';
import { createFakeTaskStore } from './fake-task-store.js';
import { createFakeWorkerStore } from './fake-worker-store.js';
import { createFakeUserStore } from './fake-user-store.js';
import { createFakeWorkspaceStore } from './fake-workspace-store.js';

/** Every store port in memory, under the names that `Adapters` uses. */
export const createFakeStores = () => ({
  users: createFakeUserStore(),
  quotas: createFakeQuotaStore(),
  partitions: createFakePartitionStore(),
  files: createFakeFileStore(),
  tasks: createFakeTaskStore(),
  workers: createFakeWorkerStore(),
  callbacks: createFakeCallbackStore(),
  claims: createFakeClaimStore(),
  counters: createFakeCounterStore(),
  workspaces: createFakeWorkspaceStore(),
  presets: createFakePresetStore(),
  prompts: createFakePromptStore(),
  blobs: createFakeBlobStore(),
  chunks: createFakeChunkStore(),
  endpoints: createFakeModelEndpointStore(),
});
