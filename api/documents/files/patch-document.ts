import { AppError } from '../../../schemas/app-error.js';
import type { Metadata } from '../../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import { authoriseAnew, authoriseCaller } from '../../http/middleware/authorise-partition.js';
import { patchFile } from '../../../activities/documents/commands/patch-file.js';
import { noSuchFile, noSuchPartition } from '../../../activities/documents/commands/refusals.js';
import { readForm, requiredField } from '../../http/read-form.js';
import type { CallerContext } from '../../http/route.js';
import { readClientMetadata } from '../../../activities/documents/commands/client-metadata.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { requireIdentifier } from '../../../activities/documents/commands/identifiers.js';

/**
 * New words for a file, and a new partition when they name one.
 * @param readFields reads the fields that the route's form has
 */
export async function patchDocument(
  { adapters, config, workflows }: GatewayDeps,
  admitted: CallerContext,
  { partition, file_id: fileId }: { partition: string; file_id: string },
  readFields: () => Promise<Readonly<Record<string, string>>> = () => readForm(admitted.koa),
): Promise<void> {
  requireIdentifier('partition name', partition);
  requireIdentifier('file id', fileId);
  const file = await adapters.files.get(partition, fileId);
  if (file === null || (file.live === null && file.pending_task === null))
    throw noSuchFile({ partition, fileId });
  const fields = await readFields();
  const ctx = { ...admitted, ...(await admitted.admitAnew()) };
  // The partition may have been deleted meanwhile, and made anew by another caller.
  await authoriseAnew(adapters.partitions, ctx, partition, 'editor');
  const embedders = await adapters.models.list('embedder');
  const read = readClientMetadata(
    requiredField(fields, 'metadata'),
    embedders.flatMap(({ vector_field }) => vector_field ?? []),
  );
  const { partition: target, ...metadata } = read.metadata;
  const to = target === undefined || target === partition ? null : await openTarget(adapters, ctx, target);
  await patchFile(
    { ...adapters, ...config.documents, workflows, log: ctx.log },
    { partition, fileId, metadata, to },
  );
}

async function openTarget(
  { partitions }: GatewayDeps['adapters'],
  ctx: CallerContext,
  target: Metadata[string],
): Promise<PartitionRecord> {
  if (typeof target !== 'string')
    throw new AppError('BAD_REQUEST', 'metadata.partition must be a string', { plain: true });
  requireIdentifier('partition name', target);
  await authoriseCaller(partitions, ctx, target, 'editor');
  const record = await partitions.get(target);
  if (record === null) throw noSuchPartition(target);
  return record;
}
