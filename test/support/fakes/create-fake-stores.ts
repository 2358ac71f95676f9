import { createFakeBlobStore } from './documents/fake-blob-store.js';
import { createFakeCallbackStore } from './documents/fake-callback-store.js';
import { createFakeChunkStore } from './documents/fake-chunk-store.js';
import { createFakeClaimStore } from './documents/fake-claim-store.js';
import { createFakeCounterStore } from './fake-counter-store.js';
import { createFakeEmbedderSwapStore } from './documents/fake-embedder-swap-store.js';
import { createFakeEvaluationRunStore } from './retrieval/fake-evaluation-run-store.js';
import { createFakeConversationStore } from './retrieval/fake-conversation-store.js';
import { createFakeFeedbackStore } from './retrieval/fake-feedback-store.js';
import { createFakeQuestionSetStore } from './retrieval/fake-question-set-store.js';
import { createFakeFileStore } from './documents/fake-file-store.js';
import { createFakeImportStore } from './imports/fake-import-store.js';
import { createFakeModelEndpointStore } from './models/fake-model-endpoint-store.js';
import { createFakePartitionStore } from './documents/fake-partition-store.js';
import { createFakeQuotaStore } from './documents/fake-quota-store.js';
import { createFakePresetStore } from './models/fake-preset-store.js';
import { createFakePromptStore } from './models/fake-prompt-store.js';
import { createFakeTaskStore } from './documents/fake-task-store.js';
import { createFakeRecordStore } from './fake-record-store.js';
import { createFakeWorkerStore } from './documents/fake-worker-store.js';
import { createFakeUserStore } from './documents/fake-user-store.js';
import { createFakeWorkspaceStore } from './documents/fake-workspace-store.js';

/** Every store port in memory, under the names that `Adapters` uses. */
export function createFakeStores() {
  return {
    users: createFakeUserStore(),
    quotas: createFakeQuotaStore(),
    partitions: createFakePartitionStore(),
    files: createFakeFileStore(),
    tasks: createFakeTaskStore(),
    workers: createFakeWorkerStore(),
    callbacks: createFakeCallbackStore(),
    claims: createFakeClaimStore(),
    counters: createFakeCounterStore(),
    recordStore: createFakeRecordStore(),
    imports: createFakeImportStore(),
    workspaces: createFakeWorkspaceStore(),
    presets: createFakePresetStore(),
    prompts: createFakePromptStore(),
    blobs: createFakeBlobStore(),
    chunks: createFakeChunkStore(),
    embedderSwaps: createFakeEmbedderSwapStore(),
    questionSets: createFakeQuestionSetStore(),
    evaluationRuns: createFakeEvaluationRunStore(),
    feedback: createFakeFeedbackStore(),
    conversations: createFakeConversationStore(),
    endpoints: createFakeModelEndpointStore(),
  };
}
