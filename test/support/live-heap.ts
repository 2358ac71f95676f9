import { openInspector } from './inspector.js';

/**
 * What a Node process holds on to, in MB: its heap and the buffers outside of it after a full collection. The memory of
 * the process itself says less, since V8 takes more while there is some and gives it back late.
 */
export async function liveHeapMb(pid: number, port: number): Promise<number> {
  const inspector = await openInspector(pid, port);
  try {
    await inspector.ask('HeapProfiler.enable');
    // What finalisers let go in the first round is collected in the second.
    for (let round = 0; round < 2; round += 1) await inspector.ask('HeapProfiler.collectGarbage');
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    const { result } = await inspector.ask<{ result: { value: number } }>('Runtime.evaluate', { expression });
    return result.value / 1024 / 1024;
  } finally {
    inspector.close();
  }
}
