import { z } from 'zod';
import { AppError } from '../../schemas/app-error.js';
import { ROLES } from '../../schemas/documents/users.js';
import type { SourceService } from '../ports/imports.js';
import { createFileLists } from './file-lists.js';
import type { FilesPage } from './file-lists.js';

/** What is read of a source's answers; whatever else they say is left. */

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

const SourceUser = z.object({
  id: z.int(),
  display_name: Text,
  external_user_id: Text,
  email: Text,
  file_quota: z.int().nullish(),
});
export type SourceUser = z.infer<typeof SourceUser>;

const SourcePartition = z.object({
  partition: z.string(),
  document_count: z.int().nullish(),
  file_count: z.int().nullish(),
  description: Text,
  embedder: Text,
  indexation_preset: Text,
  retrieval_preset: Text,
  chat_history_depth: z.int().positive().nullish(),
  chat_llm: Text,
});
export type SourcePartition = z.infer<typeof SourcePartition>;

const SourceMember = z.object({ user_id: z.int(), role: z.enum(ROLES) });

const SourceWorkspace = z.object({
  workspace_id: z.string(),
  display_name: Text,
  created_by: z.int().nullish(),
});

const Extracts = z.object({ documents: z.array(z.object({ link: z.string() })) });

/** @throws AppError IMPORT_SOURCE_REFUSED for an answer of another form than the contract's */
async function read<T>(service: SourceService, path: string, schema: z.ZodType<T>): Promise<T | null> {
  const answer = await service.json(path);
  if (answer === null) return null;
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
  throw new AppError(
    'IMPORT_SOURCE_REFUSED',
    `The answer to ${path} is not as the contract has it: ${where}`,
  );
}

function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'IMPORT_SOURCE_REFUSED';
}

/** @throws AppError IMPORT_SOURCE_REFUSED with `unreadable` among its details for a `%` that begins no sign */
function decodedId(path: string, id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new AppError('IMPORT_SOURCE_REFUSED', `The answer to ${path} has a link that cannot be read.`, {
      details: { unreadable: true },
    });
  }
}

/** @throws what it is given; a refusal without a status says that the answer could not be read */
function markUnreadable(error: unknown): never {
  if (!isRefusal(error) || error.details['answered'] !== undefined) throw error;
  throw new AppError(error.code, error.message, { cause: error, details: { unreadable: true } });
}

/** The parts of the contract that an import reads. */
export function readSource(service: SourceService) {
  const fileLists = createFileLists(service);
  const at = (partition: string, rest = ''): string => `/partition/${encodeURIComponent(partition)}${rest}`;

  const partitions = async (): Promise<SourcePartition[]> => {
    const body = await read(service, '/partition/', z.object({ partitions: z.array(SourcePartition) }));
    if (body === null) throw new AppError('IMPORT_SOURCE_FAILED', 'The source answered 404 to /partition/.');
    return body.partitions.sort((one, other) => (one.partition < other.partition ? -1 : 1));
  };

  /**
   * Null: it is not there (any more). A source that is being started anew may answer 404 to everything, and so may what
   * stands before it: only beside its list of partitions is one believed.
   * @throws AppError as `read`; IMPORT_SOURCE_FAILED where the source answers nothing else either
   */
  const readIfThere = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
    const answer = await read(service, path, schema);
    if (answer === null) await partitions();
    return answer;
  };

  return {
    /** @throws AppError IMPORT_SOURCE_REFUSED where there is no such list: it is the first that is asked for */
    async users(): Promise<SourceUser[]> {
      const body = await read(service, '/users/', z.object({ users: z.array(SourceUser) }));
      if (body !== null) return body.users;
      throw new AppError(
        'IMPORT_SOURCE_REFUSED',
        'The source answered 404 to /users/: its address must be that of its API.',
      );
    },

    /** By name, so that a run that goes on finds its place again. */
    partitions,

    /** Null where the token may not see them. */
    async members(partition: string): Promise<z.infer<typeof SourceMember>[] | null> {
      try {
        const schema = z.object({ members: z.array(SourceMember) });
        return (await readIfThere(at(partition, '/users'), schema))?.members ?? [];
      } catch (error) {
        if (isRefusal(error)) return null;
        throw error;
      }
    },

    async workspaces(partition: string): Promise<z.infer<typeof SourceWorkspace>[]> {
      const schema = z.object({ workspaces: z.array(SourceWorkspace) });
      return (await readIfThere(at(partition, '/workspaces'), schema))?.workspaces ?? [];
    },

    async workspaceFiles(partition: string, workspaceId: string): Promise<string[]> {
      const path = at(partition, `/workspaces/${encodeURIComponent(workspaceId)}/files`);
      return (await readIfThere(path, z.object({ file_ids: z.array(z.string()) })))?.file_ids ?? [];
    },

    /** The next files by id, behind one; none where the partition was deleted. */
    async files(partition: string, after: string | null): Promise<FilesPage> {
      const page = await fileLists(at(partition), after);
      if (page === null && (await partitions()).some((named) => named.partition === partition))
        throw new AppError('IMPORT_SOURCE_FAILED', `The source answered 404 to ${at(partition)}.`);
      return page ?? { files: [], isLast: true };
    },

    /**
     * Where the bytes of a file are; null: it is not there (any more), or has no extract yet.
     * @throws AppError likewise, with `unreadable` among its details where there was an answer of no use
     */
    async bytesPath(partition: string, fileId: string): Promise<string | null> {
      const path = at(partition, `/file/${encodeURIComponent(fileId)}?limit=1`);
      const extracts = await readIfThere(path, Extracts).catch(markUnreadable);
      const id = extracts?.documents[0]?.link.split('/extract/').at(-1);
      return id === undefined ? null : `/static/${encodeURIComponent(decodedId(path, id))}`;
    },
  };
}

export type SourceReader = ReturnType<typeof readSource>;
