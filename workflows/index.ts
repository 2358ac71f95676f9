/** The bundle's entry: every workflow that a worker can run. */
export { cleanDocument } from './clean-document.js';
export { cleanPartition } from './clean-partition.js';
export { copyDocument } from './copy-document.js';
export { countAlerts } from './count-alerts.js';
export { deliverCallback } from './deliver-callback.js';
export { dispatchDocuments } from './dispatch-documents.js';
export { forwardMetrics } from './forward-metrics.js';
export { forwardSignals } from './forward-signals.js';
export { indexDocument } from './index-document.js';
export { reconcileDocuments } from './reconcile-documents.js';
export { retainAlerts } from './retain-alerts.js';
export { settleDocument } from './settle-document.js';
export { sweepDocuments } from './sweep-documents.js';
export { sweepForwarding } from './sweep-forwarding.js';
