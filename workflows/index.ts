/** The bundle's entry: every workflow that a worker can run. */
export { cleanDocument } from './clean-document.js';
export { countAlerts } from './count-alerts.js';
export { forwardMetrics } from './forward-metrics.js';
export { forwardSignals } from './forward-signals.js';
export { indexDocument } from './index-document.js';
export { reconcileDocuments } from './reconcile-documents.js';
export { retainAlerts } from './retain-alerts.js';
export { sweepDocuments } from './sweep-documents.js';
export { sweepForwarding } from './sweep-forwarding.js';
