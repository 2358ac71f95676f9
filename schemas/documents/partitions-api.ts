import { z } from 'zod';

/** Request and answer bodies of partitions and workspaces (wire contract, sections 1.5 and 1.6). */

const OpenObject = z.record(z.string(), z.unknown());

const GenerationPromptNames = z.strictObject({
  sys_prompt: z.string().nullish(),
  spoken_style_answer: z.string().nullish(),
});

export const PartitionPatchBody = z
  .strictObject({
    description: z
      .string()
      .max(10_000)
      .nullable()
      .transform((text) => text ?? '')
      .optional()
      .meta({ description: 'Null clears, as the empty text does' }),
    embedder: z
      .string()
      .min(1)
      .optional()
      .meta({ description: '`default`: the default endpoint, unless an endpoint is called so' }),
    indexation_preset: z.string().min(1).optional(),
    retrieval_preset: z.string().min(1).optional(),
    chat_history_depth: z.int().min(1).max(1000).optional(),
    chat_llm: z.string().min(1).nullable().optional().meta({ description: 'Null: the default one' }),
    generation_prompt_names: GenerationPromptNames.optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, { message: 'At least one field is needed' })
  .meta({ id: 'PartitionPatch' });
export type PartitionPatchBody = z.infer<typeof PartitionPatchBody>;

export const IndexedEmbedder = z
  .object({
    embedder: z.string(),
    model_name: z.string().nullable(),
    dimension: z.int().nullable(),
    file_count: z.int(),
    vector_field: z.string().nullable(),
  })
  .meta({
    id: 'IndexedEmbedder',
    description: 'Files whose vectors one embedder made; nulls: the endpoint is not registered any more',
  });

export const EmbedderChoices = z
  .object({
    embedders: z.array(
      z.object({ name: z.string(), dimension: z.int().nullable(), is_default: z.boolean() }),
    ),
  })
  .meta({ id: 'EmbedderChoices', description: 'Embedders that a partition can be set to, by name' });

export const PartitionDetail = z
  .object({
    name: z.string(),
    description: z.string().meta({ description: 'Empty when unset' }),
    embedder: z.string(),
    indexation_preset: z.string(),
    retrieval_preset: z.string(),
    indexation_pipeline: OpenObject.meta({ description: 'The preset as it is now' }),
    retrieval_pipeline: OpenObject.meta({ description: 'The preset as it is now' }),
    dimension: z.int().nullable().meta({ description: 'Null while the partition is empty' }),
    created_at: z.iso.datetime(),
    document_count: z.int(),
    chat_history_depth: z.int(),
    chat_llm: z.string().nullable(),
    generation_prompt_names: OpenObject,
    indexed_embedders: z.array(IndexedEmbedder),
  })
  .meta({ id: 'PartitionDetail' });

export const ChunkList = z.object({
  chunks: z.array(z.object({ link: z.string(), content: z.string(), metadata: OpenObject })),
});

const related = {
  file_id: z.string(),
  partition: z.string(),
  relationship_id: z.string().nullable(),
  parent_id: z.string().nullable(),
};

export const RelatedFiles = z.object({ files: z.array(z.looseObject(related)) });

export const Ancestors = z.object({
  ancestors: z.array(
    z.looseObject({
      ...related,
      depth: z.int().meta({ description: 'Steps from the file itself, which is the last entry and has 0' }),
    }),
  ),
});

/** A path has to hold it, and people have to read it. */
const WorkspaceId = z
  .string()
  .min(1)
  .max(255)
  // \p{Cc}, spelt for readers of the OpenAPI document that do not know it
  .regex(/^[^\u0000-\u001f\u007f-\u009f/\\]+$/u, 'must hold no slash and no control character');

export const NewWorkspace = z
  .object({ workspace_id: WorkspaceId, display_name: z.string().max(255).nullish() })
  .meta({ id: 'NewWorkspace' });

export const WorkspaceCreated = z.object({ status: z.literal('created'), workspace_id: z.string() });

export const Workspace = z
  .object({
    workspace_id: z.string(),
    partition_name: z.string(),
    display_name: z.string().nullable(),
    created_by: z.int().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Workspace' });

export const WorkspaceList = z.object({ workspaces: z.array(Workspace) });

export const WorkspaceDeleted = z
  .object({
    status: z.literal('deleted'),
    orphaned_files_deleted: z.int(),
    orphaned_files_failed: z.array(z.string()),
    kept_files: z.int().meta({ description: 'Files that would have gone, but for `keep_files`' }),
  })
  .meta({ id: 'WorkspaceDeleted' });

export const WorkspaceFiles = z.object({ file_ids: z.array(z.string()) });

export const FilesToAttach = z.object({ file_ids: z.array(z.string()).max(10_000) });

export const FilesAttached = z.object({ status: z.literal('added'), file_ids: z.array(z.string()) });

export const FileDetached = z.object({ status: z.literal('removed') });

export const FileWorkspaces = z.object({ file_id: z.string(), workspace_ids: z.array(z.string()) });

export const RootBody = z.object({ status: z.literal('ok'), app: z.literal('openrag'), version: z.string() });

export const ConfigBody = z.looseObject({
  super_admin_mode: z.boolean(),
  chainlit_enabled: z.boolean(),
  grafana_url: z.string().nullable(),
});
