import { z } from 'zod';
import { MessageBody } from '../../../schemas/documents/documents-api.js';
import { copyDocument } from '../../documents/files/copy-document.js';
import { patchDocument } from '../../documents/files/patch-document.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { authoriseCaller } from '../../http/middleware/authorise-partition.js';
import type { CallerContext } from '../../http/route.js';
import { FILE_ID, METADATA, NAME, PARTITION, adding, destroying, metadataField, tool } from '../tool.js';
import type { Tool } from '../tool.js';

const Message = MessageBody.pick({ message: true });

/** Deletions, changes and copies of files, as their routes do them. */
export function changeTools(deps: GatewayDeps): Tool[] {
  const asEditor = async (ctx: CallerContext, partition: string): Promise<CallerContext> => ({
    ...ctx,
    ...(await authoriseCaller(deps.adapters.partitions, ctx, partition, 'editor')),
  });

  return [
    tool({
      name: 'delete_file',
      description: 'Deletes a file and everything made of it. This cannot be undone.',
      annotations: destroying('Delete a file'),
      input: z.strictObject({ partition: PARTITION, file_id: FILE_ID }),
      output: Message,
      async run({ ask }, { partition, file_id }) {
        const params = { partition, file_id };
        await ask('delete /indexer/partition/{partition}/file/{file_id}', { params });
        return { message: `File '${file_id}' deleted from partition '${partition}'.` };
      },
    }),
    tool({
      name: 'update_file_metadata',
      description:
        'Merges keys into the metadata of a file, without indexing it again. The key `partition` moves the file.',
      annotations: destroying('Change the metadata of a file'),
      input: z.strictObject({ partition: PARTITION, file_id: FILE_ID, metadata: METADATA }),
      output: Message,
      async run({ ctx }, { partition, file_id, metadata }) {
        const editor = await asEditor(ctx, partition);
        const fields = { metadata: metadataField(metadata) };
        await patchDocument(deps, editor, { partition, file_id }, async () => fields);
        return { message: `Metadata for file '${file_id}' successfully updated.` };
      },
    }),
    tool({
      name: 'copy_file',
      description:
        'Copies an indexed file under a new id into another partition; the same content twice in one may be refused.',
      annotations: adding('Copy a file'),
      input: z.strictObject({
        partition: NAME.meta({ description: 'Where the copy goes' }),
        file_id: NAME.meta({ description: 'Id of the copy' }),
        source_partition: NAME,
        source_file_id: NAME,
        metadata: METADATA.nullish().meta({ description: 'Keys that are merged into those of the copy' }),
      }),
      output: Message,
      async run({ ctx }, { partition, file_id, metadata, ...source }) {
        const editor = await asEditor(ctx, partition);
        const fields = { ...source, ...(metadata != null && { metadata: metadataField(metadata) }) };
        await copyDocument(deps, editor, { partition, file_id }, async () => fields);
        return { message: 'File copied successfully.' };
      },
    }),
  ];
}
