import { z } from 'zod';
import { UploadAccepted } from '../../../schemas/documents/documents-api.js';
import type { UploadName } from '../../../activities/documents/commands/received-upload.js';
import { receiveDownload } from '../../../activities/documents/commands/receive-download.js';
import { takeDocument } from '../../../activities/documents/commands/take-document.js';
import { uploader } from '../../documents/files/upload-document.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { authoriseCaller } from '../../http/middleware/authorise-partition.js';
import { createPlaces } from '../../http/places.js';
import { FILE_ID, METADATA, NAME, TEXT, adding, metadataField, tool } from '../tool.js';
import type { Tool, ToolCall } from '../tool.js';

const MEBIBYTE = 1024 * 1024;
const MAX_BYTES = 100 * MEBIBYTE;
const TIMEOUT_MS = 30_000;
/** At once in one gateway, and of one caller. */
const MAX_CONCURRENT = 16;
const MAX_OF_CALLER = 4;
const TOO_MANY = 'Too many documents are being fetched; try again soon.';
const REPORT_EVERY_MS = 200;

/** Tells of the bytes that came, a few times a second, and at the end. */
function createMeter(report: ToolCall['report']) {
  let told = { bytes: 0, at: Date.now() };
  let last: { bytes: number; total: number | null } | null = null;
  const tell = (bytes: number, total: number | null): void => {
    told = { bytes, at: Date.now() };
    report(bytes, total, `${bytes} bytes fetched`);
  };
  return {
    came(bytes: number, total: number | null): void {
      last = { bytes, total };
      if (Date.now() - told.at >= REPORT_EVERY_MS) tell(bytes, total);
    },
    done(): void {
      if (last !== null && last.bytes > told.bytes) tell(last.bytes, last.bytes);
    },
  };
}

/** Indexes what an address of the web answers. */
export function indexUrlTool(deps: GatewayDeps): Tool {
  const { adapters, config } = deps;
  const { blobs, downloads } = adapters;
  const maxBytes = Math.min(MAX_BYTES, config.http.maxUploadBytes);
  const places = createPlaces(MAX_CONCURRENT, MAX_OF_CALLER, TOO_MANY);
  return tool({
    name: 'index_url',
    description:
      'Fetches a document from a public address of the web (30 seconds, 100 MiB at most) and starts a task that ' +
      'indexes it. A missing partition is created with you as its owner. Follow the task with ' +
      'get_indexation_task_status.',
    annotations: adding('Index a document from the web', { openWorld: true }),
    input: z.strictObject({
      url: TEXT.meta({ description: 'http:// or https://' }),
      partition: NAME.meta({ description: 'Where the file goes' }),
      file_id: FILE_ID,
      metadata: METADATA.nullish(),
    }),
    output: UploadAccepted.extend({ task_id: z.string() }),
    async run({ ctx, report }, { url, partition, file_id, metadata }) {
      const caller = await authoriseCaller(adapters.partitions, ctx, partition, 'editor');
      const { userId } = ctx.principal;
      const fields = metadata == null ? {} : { metadata: metadataField(metadata) };
      const leave = places.take(userId);
      try {
        const meter = createMeter(report);
        const receive = async (upload: UploadName) => {
          const received = await receiveDownload({
            blobs,
            downloads,
            upload,
            url,
            maxBytes,
            timeoutMs: TIMEOUT_MS,
            signal: ctx.signal,
            fields,
            onProgress: meter.came,
          });
          meter.done();
          return received;
        };
        const target = { partition, file_id };
        const task = await takeDocument(
          { ...deps, log: ctx.log },
          uploader(deps, { ...ctx, ...caller }),
          target,
          'create',
          receive,
        );
        return { task_id: task.task_id, task_status_url: links(ctx.baseUrl).task(task.task_id) };
      } finally {
        leave();
      }
    },
  });
}
