/** Releases of workers, where they are versioned (WORKER_BUILD_ID). */

export interface WorkerVersion {
  buildId: string;
  /**
   * `current` takes what is new; `waiting`: its workers have come and were not promoted; `draining`: documents that it
   * began are not through; `drained`: its workers can be stopped.
   */
  state: 'current' | 'waiting' | 'draining' | 'drained';
  /** When its first worker came. */
  since: Date;
}

export interface WorkerVersionSteering {
  /** None where workers are not versioned. @throws AppError SERVICE_UNAVAILABLE */
  workerVersions(): Promise<WorkerVersion[]>;
  /**
   * Work goes to the workers of this release from now on, but for what others have begun and end.
   * @throws AppError NOT_FOUND, CONFLICT when its workers lack a queue that the current ones serve, SERVICE_UNAVAILABLE
   */
  promoteWorkers(buildId: string): Promise<void>;
}
