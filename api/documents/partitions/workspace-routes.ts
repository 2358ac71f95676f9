import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import type { PartitionRecord, WorkspaceRecord } from '../../../schemas/documents/partitions.js';
import {
  FileDetached,
  FilesAttached,
  FilesToAttach,
  FileWorkspaces,
  NewWorkspace,
  Workspace,
  WorkspaceCreated,
  WorkspaceDeleted,
  WorkspaceFiles,
  WorkspaceList,
} from '../../../schemas/documents/partitions-api.js';
import type { PlacedFile } from '../../../activities/ports/files.js';
import { deleteWorkspace } from '../../../activities/documents/commands/delete-workspace.js';
import { noSuchFile, noSuchPartition } from '../../../activities/documents/commands/refusals.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { FileParams, PartitionParams } from '../../http/identifiers.js';

const WorkspaceParams = PartitionParams.extend({ workspace_id: z.string() });
const WorkspaceFileParams = WorkspaceParams.extend({ file_id: z.string() });
const DeleteQuery = z.object({ keep_files: z.stringbool().default(false) });

const WORKSPACES = '/partition/{partition}/workspaces';
const WORKSPACE = `${WORKSPACES}/{workspace_id}`;

/** Of the files that are put into a workspace: how many names are looked up in one question. */
const NAMES_AT_ONCE = 1_000;

function present(workspace: WorkspaceRecord) {
  return {
    workspace_id: workspace.workspace_id,
    partition_name: workspace.partition,
    display_name: workspace.display_name,
    created_by: workspace.created_by,
    created_at: workspace.created_at.toISOString(),
  };
}

function noSuchWorkspace(): AppError {
  return new AppError('WORKSPACE_NOT_FOUND', 'Workspace not found', { plain: true });
}

/** Named groups of a partition's files, and the files that live by them (wire contract, section 1.6). */
export function workspaceRoutes({ adapters, workflows }: GatewayDeps): Route[] {
  const { workspaces, files, partitions } = adapters;

  /** @throws AppError WORKSPACE_NOT_FOUND (404), plain */
  const find = async (partition: string, workspaceId: string): Promise<WorkspaceRecord> => {
    const found = await workspaces.get(partition, workspaceId);
    if (found === null) throw noSuchWorkspace();
    return found;
  };

  /** Editor-level routes let a missing partition pass; nothing is created here. */
  const requirePartition = async (partition: string): Promise<PartitionRecord> => {
    const record = await partitions.get(partition);
    if (record === null) throw noSuchPartition(partition);
    return record;
  };

  /** @throws AppError FILE_NOT_FOUND (404), plain, also for a file that is not indexed yet */
  const liveFile = async (partition: string, fileId: string) => {
    const file = await files.get(partition, fileId);
    if (file === null || file.live === null) throw noSuchFile({ partition, fileId });
    return file;
  };

  /** @throws AppError FILE_NOT_FOUND (404), plain, for the first that is not live; the signal's reason */
  const liveFiles = async (partition: string, fileIds: readonly string[], signal: AbortSignal) => {
    const found: PlacedFile[] = [];
    for (let from = 0; from < fileIds.length; from += NAMES_AT_ONCE) {
      signal.throwIfAborted();
      const names = fileIds.slice(from, from + NAMES_AT_ONCE);
      const page = new Map((await files.listPlaced(partition, names)).map((file) => [file.file_id, file]));
      for (const fileId of names) {
        const file = page.get(fileId);
        if (file === undefined) throw noSuchFile({ partition, fileId });
        found.push(file);
      }
    }
    return found;
  };

  /** Takes those out again that were not in it before; they stay. */
  const detachNew = async (found: readonly PlacedFile[], key: string): Promise<void> => {
    for (const { file_key, workspaces: before } of found)
      if (!before.includes(key)) await files.detachWorkspace(file_key, key);
  };

  /** @throws AppError FILE_NOT_FOUND (404), plain, when one was deleted or moved meanwhile; none is put in then */
  const attachAll = async (found: readonly PlacedFile[], key: string): Promise<void> => {
    for (const [at, file] of found.entries()) {
      if (await files.attachWorkspace(file, key)) continue;
      await detachNew(found.slice(0, at), key);
      throw noSuchFile({ partition: file.partition, fileId: file.file_id });
    }
  };

  return [
    route({
      method: 'post',
      path: WORKSPACES,
      summary: 'Create a workspace',
      tag: 'Workspaces',
      auth: { partition: 'editor' },
      request: { params: PartitionParams, body: NewWorkspace },
      responses: { 201: { description: 'Created', schema: WorkspaceCreated } },
      errors: ['PARTITION_NOT_FOUND', 'WORKSPACE_EXISTS', 'VALIDATION_ERROR'],
      async handle({ principal }, { params: { partition }, body: { workspace_id, display_name } }) {
        const { partition_key } = await requirePartition(partition);
        const workspace_key = randomUUID();
        await workspaces
          .create({
            workspace_key,
            workspace_id,
            partition,
            display_name: display_name ?? null,
            created_by: principal.userId,
          })
          .catch((error: unknown) => {
            if (!(error instanceof AppError) || error.code !== 'WORKSPACE_EXISTS') throw error;
            const text = `Workspace '${workspace_id}' already exists in partition '${partition}'`;
            throw new AppError('WORKSPACE_EXISTS', text, { plain: true, cause: error });
          });
        // Deleted while we were at it: its workspaces went before this one came.
        if ((await partitions.get(partition))?.partition_key !== partition_key) {
          await workspaces.removeMany([workspace_key]);
          await requirePartition(partition);
          throw noSuchWorkspace();
        }
        return json(201, { status: 'created', workspace_id });
      },
    }),
    route({
      method: 'get',
      path: WORKSPACES,
      summary: 'Workspaces of a partition',
      tag: 'Workspaces',
      auth: { partition: 'viewer' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'Workspaces by id', schema: WorkspaceList } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle({ scope }, { params }) {
        return json(200, { workspaces: (await workspaces.list(scope, params.partition)).map(present) });
      },
    }),
    route({
      method: 'get',
      path: WORKSPACE,
      summary: 'One workspace',
      tag: 'Workspaces',
      auth: { partition: 'viewer' },
      request: { params: WorkspaceParams },
      responses: { 200: { description: 'The workspace', schema: Workspace } },
      errors: ['PARTITION_NOT_FOUND', 'WORKSPACE_NOT_FOUND'],
      handle: async (_ctx, { params }) =>
        json(200, present(await find(params.partition, params.workspace_id))),
    }),
    route({
      method: 'delete',
      path: WORKSPACE,
      summary: 'Delete a workspace, and the files that live by it alone unless `keep_files` is true',
      tag: 'Workspaces',
      auth: { partition: 'owner' },
      request: { params: WorkspaceParams, query: DeleteQuery },
      responses: { 200: { description: 'Deleted', schema: WorkspaceDeleted } },
      errors: ['PARTITION_NOT_FOUND', 'WORKSPACE_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ log }, { params, query }) {
        const done = await deleteWorkspace(
          { ...adapters, workflows, log },
          { partition: params.partition, workspaceId: params.workspace_id },
          { keepFiles: query.keep_files },
        );
        if (done === null) throw noSuchWorkspace();
        return json(200, {
          status: 'deleted',
          orphaned_files_deleted: done.deleted,
          orphaned_files_failed: done.failed,
          kept_files: done.kept,
        });
      },
    }),
    route({
      method: 'post',
      path: `${WORKSPACE}/files`,
      summary: 'Put files into a workspace; all of them, or none when one is unknown',
      tag: 'Workspaces',
      auth: { partition: 'editor' },
      request: { params: WorkspaceParams, body: FilesToAttach },
      responses: { 200: { description: 'Added', schema: FilesAttached } },
      errors: ['PARTITION_NOT_FOUND', 'WORKSPACE_NOT_FOUND', 'FILE_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ signal }, { params: { partition, workspace_id: workspaceId }, body: { file_ids } }) {
        await requirePartition(partition);
        const { workspace_key: key } = await find(partition, workspaceId);
        const found = await liveFiles(partition, [...new Set(file_ids)], signal);
        await attachAll(found, key);
        // Deleted while we were at it: what came of those that were in it before is the deletion's to decide.
        if (!(await workspaces.getMany([key])).has(key)) {
          await detachNew(found, key);
          throw noSuchWorkspace();
        }
        return json(200, { status: 'added', file_ids });
      },
    }),
    route({
      method: 'get',
      path: `${WORKSPACE}/files`,
      summary: 'Files of a workspace',
      tag: 'Workspaces',
      auth: { partition: 'viewer' },
      request: { params: WorkspaceParams },
      responses: { 200: { description: 'File ids', schema: WorkspaceFiles } },
      errors: ['PARTITION_NOT_FOUND', 'WORKSPACE_NOT_FOUND'],
      async handle(_ctx, { params: { partition, workspace_id: workspaceId } }) {
        const { workspace_key: key } = await find(partition, workspaceId);
        const inside = await files.listByWorkspace(key);
        const live = inside.filter((file) => file.is_live && file.partition === partition);
        return json(200, { file_ids: live.map(({ file_id }) => file_id) });
      },
    }),
    route({
      method: 'delete',
      path: `${WORKSPACE}/files/{file_id}`,
      summary: 'Take a file out of a workspace; the file stays',
      tag: 'Workspaces',
      auth: { partition: 'editor' },
      request: { params: WorkspaceFileParams },
      responses: { 200: { description: 'Removed', schema: FileDetached } },
      errors: ['PARTITION_NOT_FOUND', 'WORKSPACE_NOT_FOUND', 'FILE_NOT_FOUND'],
      async handle(_ctx, { params: { partition, workspace_id: workspaceId, file_id: fileId } }) {
        await requirePartition(partition);
        const { workspace_key: key } = await find(partition, workspaceId);
        const file = await files.get(partition, fileId);
        if (file === null || !(await files.detachWorkspace(file.file_key, key)))
          throw new AppError('FILE_NOT_FOUND', `File '${fileId}' not found in workspace '${workspaceId}'`, {
            plain: true,
          });
        return json(200, { status: 'removed' });
      },
    }),
    route({
      method: 'get',
      path: '/partition/{partition}/files/{file_id}/workspaces',
      summary: 'Workspaces that a file is in',
      tag: 'Workspaces',
      auth: { partition: 'viewer' },
      request: { params: FileParams },
      responses: { 200: { description: 'Workspace ids', schema: FileWorkspaces } },
      errors: ['PARTITION_NOT_FOUND', 'FILE_NOT_FOUND'],
      async handle(_ctx, { params: { partition, file_id } }) {
        const file = await liveFile(partition, file_id);
        const present = await workspaces.getMany(file.workspaces);
        const ids = [...present.values()].map(({ workspace_id }) => workspace_id).sort();
        return json(200, { file_id, workspace_ids: ids });
      },
    }),
  ];
}
