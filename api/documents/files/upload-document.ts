import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { inScope } from '../../../schemas/documents/users.js';
import { takeDocument } from '../../../activities/documents/commands/take-document.js';
import type { Uploader } from '../../../activities/documents/commands/take-document.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { authoriseAnew } from '../../http/middleware/authorise-partition.js';
import type { CallerContext } from '../../http/route.js';
import { receiveUpload } from './receive-upload.js';

/** A document that comes as a form in the body of the request. */
export async function uploadDocument(
  deps: GatewayDeps,
  ctx: CallerContext,
  named: Parameters<typeof takeDocument>[2],
  intent: TaskRecord['intent'],
): Promise<{ task_status_url: string }> {
  const { blobs } = deps.adapters;
  const { maxUploadBytes: maxBytes } = deps.config.http;
  const by = uploader(deps, ctx);
  const task = await takeDocument({ ...deps, log: ctx.log }, by, named, intent, (upload) =>
    receiveUpload(ctx.koa, { blobs, upload, maxBytes, signal: ctx.signal }),
  );
  return { task_status_url: by.taskUrl(task.task_id) };
}

/** The caller of a request as the one whose document comes. */
export function uploader({ adapters }: Pick<GatewayDeps, 'adapters'>, ctx: CallerContext): Uploader {
  let caller: Pick<CallerContext, 'principal' | 'scope'> = ctx;
  return {
    get principal() {
      return caller.principal;
    },
    taskUrl: links(ctx.baseUrl).task,
    isEditorOf: (partition) => inScope(caller.scope, partition),
    admitAnew: async () => void (caller = await ctx.admitAnew()),
    requireEditor: (partition) => authoriseAnew(adapters.partitions, caller, partition, 'editor'),
  };
}
