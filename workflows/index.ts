/** The bundle's entry: every workflow that a worker can run. */
export { cleanDocument } from './clean-document.js';
export { indexDocument } from './index-document.js';
export { reconcileDocuments } from './reconcile-documents.js';
export { sweepDocuments } from './sweep-documents.js';
