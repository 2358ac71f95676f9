import type { Adapters } from '../../../activities/ports/adapters.js';
import type { GatewayProxyAdapters } from '../../../activities/ports/signals.js';
import { createMongoAlertStore } from '../../../activities/stores/mongo/signals/alert-store.js';
import { createMongoApiKeyStore } from '../../../activities/stores/mongo/signals/api-key-store.js';
import { createMongoBlobStore } from '../../../activities/stores/mongo/documents/blob-store.js';
import { createMongoCallbackStore } from '../../../activities/stores/mongo/documents/callback-store.js';
import { createMongoClaimStore } from '../../../activities/stores/mongo/documents/claim-store.js';
import { createMongoCounterStore } from '../../../activities/stores/mongo/counters.js';
import { createMongoDecisionCopyStore } from '../../../activities/stores/mongo/signals/decision-copy-store.js';
import { createMongoEmbedderSwapStore } from '../../../activities/stores/mongo/documents/embedder-swap-store.js';
import { createMongoEvaluationRunStore } from '../../../activities/stores/mongo/retrieval/evaluation-run-store.js';
import { createMongoConversationStore } from '../../../activities/stores/mongo/retrieval/conversation-store.js';
import { createMongoFeedbackStore } from '../../../activities/stores/mongo/retrieval/feedback-store.js';
import { createMongoQuestionSetStore } from '../../../activities/stores/mongo/retrieval/question-set-store.js';
import { createMongoFileStore } from '../../../activities/stores/mongo/documents/file-store.js';
import { createMongoImportStore } from '../../../activities/stores/mongo/imports/import-store.js';
import { createMongoLoginStore } from '../../../activities/stores/mongo/signals/login-store.js';
import { createMongoMetricsStore } from '../../../activities/stores/mongo/signals/metrics-store.js';
import { createMongoModelEndpointStore } from '../../../activities/stores/mongo/models/model-endpoint-store.js';
import { createMongoPartitionStore } from '../../../activities/stores/mongo/documents/partition-store.js';
import { createMongoPresetStore } from '../../../activities/stores/mongo/models/preset-store.js';
import { createMongoPromptStore } from '../../../activities/stores/mongo/models/prompt-store.js';
import { createMongoQuotaStore } from '../../../activities/stores/mongo/documents/quota-store.js';
import { createMongoRecordStore } from '../../../activities/stores/mongo/record-store.js';
import { createMongoSavedRuleStore } from '../../../activities/stores/mongo/signals/saved-rule-store.js';
import { createMongoStatisticsStore } from '../../../activities/stores/mongo/signals/statistics-store.js';
import { createMongoTaskStore } from '../../../activities/stores/mongo/documents/task-store.js';
import { createMongoUserStore } from '../../../activities/stores/mongo/documents/user-store.js';
import { createMongoWatcherStore } from '../../../activities/stores/mongo/signals/watcher-store.js';
import { createMongoWorkerStore } from '../../../activities/stores/mongo/documents/worker-store.js';
import { createMongoWorkspaceStore } from '../../../activities/stores/mongo/documents/workspace-store.js';
import { createMongoSessionStore } from '../../../activities/stores/mongo/session-store.js';
import type { SessionStore } from '../../../activities/ports/sessions.js';
import { createFakeSessionStore } from '../../support/fakes/fake-session-store.js';
import { openTestDatabase } from '../../contracts/subject.js';
import { createFakeChunkStore } from '../../support/fakes/documents/fake-chunk-store.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';
import { createFakeAlertStore } from '../../support/fakes/signals/fake-alert-store.js';
import { createFakeApiKeyStore } from '../../support/fakes/signals/fake-api-key-store.js';
import { createFakeDecisionCopyStore } from '../../support/fakes/signals/fake-decision-copy-store.js';
import { createFakeLoginStore } from '../../support/fakes/signals/fake-login-store.js';
import { createFakeMetricsStore } from '../../support/fakes/signals/fake-metrics-store.js';
import { createFakeSavedRuleStore } from '../../support/fakes/signals/fake-saved-rule-store.js';
import { createFakeStatisticsStore } from '../../support/fakes/signals/fake-statistics-store.js';
import { createFakeWatcherStore } from '../../support/fakes/signals/fake-watcher-store.js';

type DocumentStores = Pick<Adapters, keyof ReturnType<typeof createFakeStores>>;
type ProxyStores = Pick<
  GatewayProxyAdapters,
  'alerts' | 'watchers' | 'logins' | 'copies' | 'metrics' | 'statistics' | 'keys' | 'savedRules'
>;

interface Opened<Stores> {
  stores: Stores;
  close(): Promise<void>;
}

/** In memory, which is fast; `npm run test:stores` puts the whole API suite on a server instead. */
const onServer = process.env['TAMIS_API_STORES'] === 'server';
const SECRETS_KEY = Buffer.alloc(32, 7);

/** The stores of the documents. Vectors are in memory either way: this is not about OpenSearch. */
export async function openDocumentStores(): Promise<Opened<DocumentStores> & { sessions: SessionStore }> {
  if (!onServer)
    return { stores: createFakeStores(), sessions: createFakeSessionStore(), close: async () => {} };
  const { db, close } = await openTestDatabase();
  return {
    stores: {
      users: createMongoUserStore(db),
      quotas: createMongoQuotaStore(db),
      partitions: createMongoPartitionStore(db),
      embedderSwaps: createMongoEmbedderSwapStore(db),
      files: createMongoFileStore(db),
      tasks: createMongoTaskStore(db),
      workers: createMongoWorkerStore(db),
      callbacks: createMongoCallbackStore(db, SECRETS_KEY, []),
      claims: createMongoClaimStore(db),
      counters: createMongoCounterStore(db),
      recordStore: createMongoRecordStore(db),
      imports: createMongoImportStore(db, SECRETS_KEY, []),
      workspaces: createMongoWorkspaceStore(db),
      presets: createMongoPresetStore(db),
      prompts: createMongoPromptStore(db),
      blobs: createMongoBlobStore(db),
      chunks: createFakeChunkStore(),
      endpoints: createMongoModelEndpointStore(db),
      questionSets: createMongoQuestionSetStore(db),
      evaluationRuns: createMongoEvaluationRunStore(db),
      feedback: createMongoFeedbackStore(db),
      conversations: createMongoConversationStore(db),
    },
    sessions: createMongoSessionStore(db),
    close,
  };
}

/** The stores of the signals. */
export async function openProxyStores(now: () => Date): Promise<Opened<ProxyStores>> {
  if (!onServer) {
    const alerts = createFakeAlertStore();
    return {
      stores: {
        alerts,
        watchers: createFakeWatcherStore(),
        logins: createFakeLoginStore(),
        copies: createFakeDecisionCopyStore(),
        metrics: createFakeMetricsStore(),
        statistics: createFakeStatisticsStore(alerts),
        keys: createFakeApiKeyStore(),
        savedRules: createFakeSavedRuleStore(),
      },
      close: async () => {},
    };
  }
  const { db, close } = await openTestDatabase();
  return {
    stores: {
      alerts: createMongoAlertStore(db),
      watchers: createMongoWatcherStore(db, SECRETS_KEY, []),
      logins: createMongoLoginStore(db, SECRETS_KEY, []),
      copies: createMongoDecisionCopyStore(db),
      metrics: createMongoMetricsStore(db),
      statistics: createMongoStatisticsStore(db, now),
      keys: createMongoApiKeyStore(db),
      savedRules: createMongoSavedRuleStore(db),
    },
    close,
  };
}
