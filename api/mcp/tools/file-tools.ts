import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { createNameLikeness } from '../../../activities/text/name-likeness.js';
import { FileDetail, FileList, PartitionList } from '../../../schemas/documents/documents-api.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { fileRow } from '../../documents/partitions/partition-routes.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import type { Links } from '../../http/links.js';
import { authoriseCaller } from '../../http/middleware/authorise-partition.js';
import { createPlaces } from '../../http/places.js';
import type { CallerContext } from '../../http/route.js';
import { createRowBudget, rowsWithRoom } from '../bounded-rows.js';
import { findLiveFile, readChunks } from '../read-file.js';
import { Chunk, FILE_ID, NAME, PARTITION, reading, tool } from '../tool.js';
import type { Tool } from '../tool.js';

const FileRow = FileList.shape.files.element;
/** Records held at once: 64 KiB each. */
const FILES_AT_ONCE = 100;
const OFFSET = z.int().min(0).default(0);
/** Names compared before others get their turn. */
const NAMES_AT_ONCE = 500;
/** All names are compared: so many searches at once in one gateway, and of one caller. */
const MAX_NAME_SEARCHES = 4;
const MAX_OF_CALLER = 1;
const TOO_MANY = 'Too many searches for names at once; try again soon.';

/** Names of files and how much they are like a query; the best of them, as many as are asked for. */
async function findByName(
  { files, partitions }: Pick<GatewayDeps['adapters'], 'files' | 'partitions'>,
  { scope, signal }: Pick<CallerContext, 'scope' | 'signal'>,
  { query, cutoff, limit }: { query: string; cutoff: number; limit: number },
): Promise<{ fileKey: string; score: number }[]> {
  const likeness = createNameLikeness(query);
  const names = (await partitions.list(scope)).map(({ partition }) => partition);
  let best: { fileKey: string; score: number }[] = [];
  let seen = 0;
  const keepBest = (): void => {
    best = best.sort((a, b) => b.score - a.score).slice(0, limit);
  };
  for await (const { fileKey, fileId, filename } of files.scanNames(scope, names)) {
    const score = Math.max(likeness(filename), likeness(fileId));
    if (score >= cutoff) best.push({ fileKey, score });
    if (best.length >= 10 * limit) keepBest();
    seen += 1;
    if (seen % NAMES_AT_ONCE === 0) await turn(undefined, { signal });
  }
  keepBest();
  return best;
}

/** Files from an offset on, as many as were asked for or have room in one result. */
async function listRows(
  files: Pick<GatewayDeps['adapters']['files'], 'listLive'>,
  { scope, partition, range }: { scope: Scope; partition: string; range: { offset: number; limit: number } },
  link: Links,
): Promise<ReturnType<typeof fileRow>[]> {
  const hasRoom = createRowBudget();
  const rows: ReturnType<typeof fileRow>[] = [];
  let page: { offset?: number; after?: string } = { offset: range.offset };
  while (rows.length < range.limit) {
    const limit = Math.min(range.limit - rows.length, FILES_AT_ONCE);
    const listed = await files.listLive(scope, partition, { ...page, limit });
    for (const file of listed) {
      const row = fileRow(file, link);
      if (!hasRoom(row)) return rows;
      rows.push(row);
    }
    if (listed.length < limit) return rows;
    page = { after: listed.at(-1)!.file_id };
  }
  return rows;
}

/** Partitions, files and what is in them. */
export function fileTools({ adapters }: GatewayDeps): Tool[] {
  const liveFile = (ctx: CallerContext, partition: string, fileId: string) =>
    findLiveFile(adapters, ctx, { partition, fileId });
  const nameSearches = createPlaces(MAX_NAME_SEARCHES, MAX_OF_CALLER, TOO_MANY);
  return [
    tool({
      name: 'list_partitions',
      description: 'Lists the partitions that you may read: named sets of documents.',
      annotations: reading('List partitions'),
      input: z.strictObject({}),
      output: PartitionList,
      run: ({ ask }) => ask('get /partition/'),
    }),
    tool({
      name: 'list_files',
      description:
        'Lists the indexed files of a partition by their ids, a page at a time. A page may end before its limit: ' +
        'the next begins behind the files that were listed.',
      annotations: reading('List files'),
      input: z.strictObject({
        partition: PARTITION,
        offset: OFFSET,
        limit: z.int().min(1).max(1000).default(100),
      }),
      output: z.object({
        partition: z.string(),
        total_files: z.int(),
        offset: z.int(),
        limit: z.int(),
        has_more: z.boolean(),
        files: z.array(FileRow),
      }),
      async run({ ctx }, { partition, offset, limit }) {
        const { scope } = await authoriseCaller(adapters.partitions, ctx, partition, 'viewer');
        const range = { offset, limit };
        const [files, counts] = await Promise.all([
          listRows(adapters.files, { scope, partition, range }, links(ctx.baseUrl)),
          adapters.files.countLive([partition]),
        ]);
        const total = counts.get(partition) ?? 0;
        return {
          partition,
          total_files: total,
          offset,
          limit,
          has_more: offset + files.length < total,
          files,
        };
      },
    }),
    tool({
      name: 'get_file_info',
      description: 'Gives the metadata of a file, how many chunks it has, and what reading it lost.',
      annotations: reading('Get a file'),
      input: z.strictObject({ partition: PARTITION, file_id: FILE_ID }),
      output: FileDetail.omit({ documents: true }).extend({
        partition: z.string(),
        file_id: z.string(),
        total_chunks: z.int(),
      }),
      async run({ ctx, ask }, { partition, file_id }) {
        // Without its list of links, which may be long: chunks are read by their places.
        const said = await ask('get /partition/{partition}/file/{file_id}', {
          params: { partition, file_id },
          query: { limit: 0 },
        });
        const { documents: _none, ...detail } = said as z.output<typeof FileDetail>;
        const { live } = await liveFile(ctx, partition, file_id);
        return { partition, file_id, total_chunks: live.chunk_count, ...detail };
      },
    }),
    tool({
      name: 'get_file_chunks',
      description:
        'Gives the chunks of a file in their order, a page at a time: this is how to read a file. A page may end ' +
        'before its limit: the next begins behind the chunks that were given.',
      annotations: reading('Read a file'),
      input: z.strictObject({
        partition: PARTITION,
        file_id: FILE_ID,
        offset: OFFSET,
        limit: z.int().min(1).max(200).default(3),
      }),
      output: z.object({
        partition: z.string(),
        file_id: z.string(),
        total_chunks: z.int(),
        offset: z.int(),
        limit: z.int(),
        has_more: z.boolean(),
        chunks: z.array(Chunk),
      }),
      async run({ ctx }, { partition, file_id: fileId, offset, limit }) {
        const { file, live } = await liveFile(ctx, partition, fileId);
        const total = live.chunk_count;
        const found = await readChunks(adapters, { file, live }, { offset, limit, signal: ctx.signal });
        const chunks = rowsWithRoom(found);
        return {
          partition,
          file_id: fileId,
          total_chunks: total,
          offset,
          limit,
          has_more: chunks.length < found.length || offset + limit < total,
          chunks,
        };
      },
    }),
    tool({
      name: 'fuzzy_search_files',
      description:
        'Finds files by name, in all partitions that you may read: misspelt names and parts of names are found too. ' +
        'Of very much metadata it says `truncated`.',
      annotations: reading('Find files by name'),
      input: z.strictObject({
        query: NAME.meta({ description: 'A name, or a part of one' }),
        cutoff: z
          .number()
          .min(0)
          .max(1)
          .default(0.4)
          .meta({ description: 'How much alike, 1: the same words' }),
        limit: z.int().min(1).max(100).default(20),
      }),
      output: z.object({
        query: z.string(),
        cutoff: z.number(),
        limit: z.int(),
        count: z.int(),
        files: z.array(FileRow.extend({ score: z.number() })).meta({ description: 'The most alike first' }),
        truncated: z.literal(true).optional().meta({ description: 'There are more, which had no room' }),
      }),
      async run({ ctx }, asked) {
        const leave = nameSearches.take(ctx.principal.userId);
        const best = await findByName(adapters, ctx, asked).finally(leave);
        const records = await adapters.files.getMany(best.map(({ fileKey }) => fileKey));
        const link = links(ctx.baseUrl);
        // Between the two a file may have been deleted, or moved to where the caller may not look.
        const found = best.flatMap(({ fileKey, score }) => {
          const file = records.get(fileKey);
          if (file?.live == null || file.deleted_at !== null || !inScope(ctx.scope, file.partition))
            return [];
          return [{ ...fileRow(file, link), score: Math.round(score * 1000) / 1000 }];
        });
        const files = rowsWithRoom(found);
        const cut = files.length < found.length;
        return { ...asked, count: files.length, files, ...(cut && { truncated: true as const }) };
      },
    }),
  ];
}
