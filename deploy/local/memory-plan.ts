import { totalmem } from 'node:os';
import { LauncherError } from './launcher-error.js';
import type { MemorySetting } from './memory-fault.js';

const MIB = 1024 * 1024;

/** What each process may take, in MiB. */
export interface MemoryPlan {
  readonly opensearchHeapMb: number;
  readonly postgresSharedBuffersMb: number;
  readonly gatewayHeapMb: number;
  readonly workerHeapMb: number;
}

/** The setting that takes the place of each value. */
const VARIABLES = {
  opensearchHeapMb: 'OPENSEARCH_HEAP_MB',
  postgresSharedBuffersMb: 'POSTGRES_SHARED_BUFFERS_MB',
  gatewayHeapMb: 'GATEWAY_HEAP_MB',
  workerHeapMb: 'WORKER_HEAP_MB',
} as const satisfies Record<keyof MemoryPlan, string>;

/** Below this a process does not start, or does nothing but collect garbage. */
const MIN_MB: MemoryPlan = {
  opensearchHeapMb: 128,
  postgresSharedBuffersMb: 16,
  gatewayHeapMb: 128,
  workerHeapMb: 128,
};

/**
 * The machine's share for each process, as README's table has it. The sum of the upper limits is under half of the
 * memory from 4 GiB on, because engines need as much again outside of their heaps, and the page cache the rest.
 */
export function memoryPlan(totalBytes: number): MemoryPlan {
  const total = totalBytes / MIB;
  return {
    opensearchHeapMb: share(total, 16, 384, 4096),
    postgresSharedBuffersMb: share(total, 32, 64, 2048),
    gatewayHeapMb: share(total, 12, 256, 2048),
    workerHeapMb: share(total, 8, 384, 4096),
  };
}

function share(total: number, divisor: number, min: number, max: number): number {
  // in steps of 16, so that a few pages that the firmware keeps do not show
  const wanted = Math.round(total / divisor / 16) * 16;
  return Math.min(max, Math.max(min, wanted));
}

/** The machine's memory, or what a container of ours is limited to. */
export function availableMemory(): number {
  const limit = process.constrainedMemory();
  // without a limit it is 0 or a number beyond any memory
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** One value of the plan, or the one that is set in its place; a value that cannot be one is refused by name. */
export function memorySetting(
  settings: Readonly<Record<string, string>>,
  name: keyof MemoryPlan,
  totalBytes = availableMemory(),
): MemorySetting {
  const variable = VARIABLES[name];
  const given = settings[variable];
  if (given === undefined) return { variable, megabytes: memoryPlan(totalBytes)[name] };
  const megabytes = /^\d+$/.test(given) ? Number(given) : 0;
  if (megabytes >= MIN_MB[name] && megabytes * MIB <= totalBytes) return { variable, megabytes };
  const most = Math.floor(totalBytes / MIB);
  throw new LauncherError(
    `${variable} is ${given}: it must be a number of MiB from ${MIN_MB[name]} to ${most}`,
    {
      advice: [
        `correct it in the environment or in .env, or unset it and it is chosen by the machine's memory`,
      ],
    },
  );
}
