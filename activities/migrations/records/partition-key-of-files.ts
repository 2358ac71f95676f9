import type { RecordStep } from './record-step.js';

/**
 * Files of before partitions had keys lack the key of theirs, and every question by partition asks twice: by the key,
 * and by the name of the partition where there is none. The key of such a file is the name, as readers of all releases
 * take it. Once no release that may run beside the present one lacks this step, readers can ask by the key alone.
 */
export const partitionKeyOfFiles: RecordStep = {
  name: 'partition-key-of-files',
  title: 'Files of the first release get the key of their partition',
  collection: 'files',
  fields: ['partition', 'partition_key'],
  change: ({ fields: { partition, partition_key: key } }) =>
    key === undefined ? { set: { partition_key: partition } } : null,
};
