import { partitionKeyOfFiles } from './partition-key-of-files.js';
import type { RecordStep } from './record-step.js';

/** All steps, in the order in which they are done. One is removed when no record from before it can exist. */
export const RECORD_STEPS: readonly RecordStep[] = [partitionKeyOfFiles];
