/**
 * The worker pools by the names that clients of the peer service know (wire contract, section 1.4), and what each is
 * here. Every worker process has one of each but the first, which is the records themselves.
 */
export const WORKER_POOLS = [
  /** States of tasks: in the record store, so it lives as long as a gateway can answer. */
  { name: 'TaskStateManager', className: 'TaskStateManager', inWorkers: false },
  /** The parser processes. */
  { name: 'MarkerPool', className: 'ParserPool', inWorkers: true },
  /** The worker of the queue `documents`: plans, parsing, publication, clean-up. */
  { name: 'SerializerQueue', className: 'DocumentWorker', inWorkers: true },
  /** The worker of the queue `models`; pictures are read by it too. */
  { name: 'llmSemaphore', className: 'ModelWorker', inWorkers: true },
  { name: 'vlmSemaphore', className: 'ModelWorker', inWorkers: true },
] as const;

export type WorkerPoolName = (typeof WORKER_POOLS)[number]['name'];

/** A process that has said nothing for so long is taken for dead. */
export const WORKER_SILENCE_MS = 15_000;
export const WORKER_REPORT_EVERY_MS = 3000;
