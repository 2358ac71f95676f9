/** The records of partitions and of the workspaces in them. */
export interface PartitionRecord {
  partition: string;
  /** Surrogate, never reused: a deleted and recreated partition gets a new one, and has none of the old one's files. */
  partition_key: string;
  /** `''`: none; clients call string methods on it. */
  description: string;
  /** Name of the model endpoint whose vectors this partition's chunks carry; `default`: not tied to one yet. */
  embedder: string;
  /** The swap at work, and the endpoint that it moves the partition to; see `embedder-swaps.ts`. */
  swap: { swap_id: string; target: string } | null;
  /** Embedders that swaps have replaced: a task that was admitted with one of them goes on with the present one. */
  swapped_from: string[];
  /** Names of presets. */
  indexation_preset: string;
  retrieval_preset: string;
  /** Messages of a conversation that a chat looks at. */
  chat_history_depth: number;
  /** Name of a language model's endpoint; null: the default one. */
  chat_llm: string | null;
  /** Names of prompts by their type; types without one take the default. */
  generation_prompt_names: GenerationPromptNames;
  created_by: number;
  created_at: Date;
}

export interface GenerationPromptNames {
  sys_prompt?: string | null | undefined;
  spoken_style_answer?: string | null | undefined;
}

/** What an owner may change of a partition; absent fields stay as they are. */
export type PartitionPatch = Partial<
  Pick<
    PartitionRecord,
    | 'description'
    | 'embedder'
    | 'indexation_preset'
    | 'retrieval_preset'
    | 'chat_history_depth'
    | 'chat_llm'
    | 'generation_prompt_names'
  >
>;

/** The settings of a partition before any was chosen. */
export const PARTITION_DEFAULTS = {
  description: '',
  indexation_preset: 'default',
  retrieval_preset: 'default',
  chat_history_depth: 4,
  chat_llm: null,
  generation_prompt_names: {},
} as const satisfies PartitionPatch;

/** A named group of files of one partition. */
export interface WorkspaceRecord {
  /** Surrogate, never reused. */
  workspace_key: string;
  /** Chosen by the client; unique within the partition. */
  workspace_id: string;
  partition: string;
  display_name: string | null;
  created_by: number | null;
  created_at: Date;
  /** Set while its files are let go; the id is free already, and only the clean-up reads it. */
  deleted: { at: Date; keepFiles: boolean } | null;
}
