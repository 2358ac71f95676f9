/** The bundle's entry: every workflow that a worker can run. */
export { cleanDocument } from './documents/clean-document.js';
export { cleanPartition } from './documents/clean-partition.js';
export { copyDocument } from './documents/copy-document.js';
export { countAlerts } from './signals/count-alerts.js';
export { deliverCallback } from './documents/deliver-callback.js';
export { dispatchDocuments } from './documents/dispatch-documents.js';
export { forwardMetrics } from './signals/forward-metrics.js';
export { forwardSignals } from './signals/forward-signals.js';
export { indexDocument } from './documents/index-document.js';
export { reconcileDocuments } from './documents/reconcile-documents.js';
export { retainAlerts } from './signals/retain-alerts.js';
export { settleDocument } from './documents/settle-document.js';
export { sweepDocuments } from './documents/sweep-documents.js';
export { sweepForwarding } from './signals/sweep-forwarding.js';
export { upkeepDocuments } from './documents/upkeep-documents.js';
export { upkeepSignals } from './signals/upkeep-signals.js';
