import type { Client } from '@temporalio/client';

/** Waits for a condition; fails with its description instead of sleeping for luck. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | false | null | undefined>,
  options: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + (options.withinMs ?? 30_000);
  for (;;) {
    const value = await condition();
    if (value !== false && value != null) return value;
    if (Date.now() > deadline) throw new Error(`not within ${options.withinMs ?? 30_000} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 50));
  }
}

/**
 * Waits until a workflow has ended and answers its status. Unlike `result()` on a child's handle it leaves the test
 * server's clock alone (that call left time standing still for the tests that followed).
 */
export function ended(
  client: Client,
  workflowId: string,
  options: { withinMs?: number; runId?: string } = {},
): Promise<string> {
  return until(
    `${workflowId} has ended`,
    async () => {
      const { status } = await client.workflow.getHandle(workflowId, options.runId).describe();
      return status.name !== 'RUNNING' && status.name;
    },
    options,
  );
}
