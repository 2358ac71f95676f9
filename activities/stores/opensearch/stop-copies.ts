import type { OpenSearchClient } from './connect-opensearch.js';

const STOPPING_MS = 120_000;

interface TasksAnswer {
  nodes?: Record<string, { tasks: Record<string, { description?: string }> }>;
}

/**
 * Ends the copies into an index that the engine is at work on. It goes on with one after the client has left, and the
 * next batch makes an index that was dropped meanwhile anew, of a shape of the engine's own, where its settings let it.
 * A user who may not end tasks drops the index all the same; the next build removes what came behind it.
 */
export async function stopCopies(client: OpenSearchClient, target: string): Promise<void> {
  try {
    for (const task of await copiesTo(client, target))
      await client.request('POST', `/_tasks/${task}/_cancel`, {
        query: { wait_for_completion: true },
        timeoutMs: STOPPING_MS,
      });
  } catch {
    // An engine that is away does not drop the index either, so that both are done again.
  }
}

/** The engine describes a copy by its indexes: `reindex from [source] to [target]`. */
async function copiesTo(client: OpenSearchClient, target: string): Promise<string[]> {
  const { nodes = {} } = await client.request<TasksAnswer>('GET', '/_tasks', {
    query: { actions: '*reindex', detailed: true },
  });
  return Object.values(nodes).flatMap(({ tasks }) =>
    Object.entries(tasks).flatMap(([id, { description }]) =>
      description?.includes(` to [${target}]`) === true ? [id] : [],
    ),
  );
}
