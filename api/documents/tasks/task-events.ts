import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { isFinalState } from '../../../schemas/documents/tasks.js';
import type { TaskStatus } from '../../../schemas/documents/documents-api.js';
import { errorFrom } from '../../http/error-from.js';
import { losslessBody } from '../../http/json.js';
import { DONE_EVENT, errorEvent } from '../../http/stream-events.js';
import { LOOK_EVERY_MS } from './task-watch.js';

/**
 * A task's status as server-sent events: at once, after every change, and for the last time when it is final. When it
 * cannot be asked any more the stream says so and ends well: the task goes on, and may be asked for again.
 * @param look answers the record after `LOOK_EVERY_MS`
 * @param options.signal aborted when the client has left
 * @param options.heartbeatMs a stream silent for so long gets a comment, so that proxies keep it; 0: none
 */
export async function* taskEvents(
  first: TaskRecord,
  look: () => Promise<TaskRecord | null>,
  present: (task: TaskRecord) => TaskStatus,
  { signal, heartbeatMs }: { signal: AbortSignal; heartbeatMs: number },
): AsyncGenerator<string> {
  const commentMs = heartbeatMs > 0 ? heartbeatMs : Infinity;
  let said = '';
  let silentMs = 0;
  for (let task: TaskRecord | null = first; task !== null;) {
    const data = losslessBody(present(task));
    if (data !== said) yield `event: status\ndata: ${data}\n\n`;
    else if (silentMs >= commentMs) yield ': still there\n\n';
    silentMs = data === said && silentMs < commentMs ? silentMs + LOOK_EVERY_MS : 0;
    said = data;
    if (isFinalState(task.state)) return;
    try {
      task = await look();
      if (signal.aborted) return;
    } catch (thrown) {
      yield errorEvent(errorFrom(thrown));
      yield DONE_EVENT;
      return;
    }
  }
}
