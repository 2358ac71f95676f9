/**
 * The interfaces behind the administrators' part of the document surface: prompts, and the servers behind model
 * endpoints. Like those of `adapters.ts`, every method may throw AppError SERVICE_UNAVAILABLE.
 */
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import type { PromptRecord, PresetRecord, PresetType } from '../../schemas/models/presets.js';
import type { PromptType } from '../../schemas/models/prompts.js';

/** A server and a model on it, as they are registered or only proposed. */
export interface EndpointDraft extends Pick<
  ModelEndpoint,
  'model_type' | 'endpoint' | 'model_name' | 'provider' | 'timeout'
> {
  apiKey: string | null;
}

/** What asking a server came to. */
export interface EndpointInspection {
  reachable: boolean;
  /** Null when the server does not tell which models it has. */
  modelFound: boolean | null;
  modelsServed: string[];
  /** Types `stt` only; null when the server does not tell. */
  transcriptionSupported: boolean | null;
  /** Why it cannot be used, for people; null when nothing is wrong. */
  detail: string | null;
}

/** The keys of model endpoints, and the servers themselves. */
export interface ModelServers {
  /**
   * The key as it may be stored; it opens for this type, name and address alone.
   * @throws AppError CONFIG_ERROR without SECRETS_KEY
   */
  sealKey(endpoint: Pick<ModelEndpoint, 'model_type' | 'name' | 'endpoint'>, key: string): string;
  /** Null when there is none. @throws AppError CONFIG_ERROR when it cannot be opened */
  openKey(
    endpoint: Pick<ModelEndpoint, 'model_type' | 'name' | 'endpoint' | 'sealed_api_key'>,
  ): string | null;
  /** Asks the server; whatever it does is an answer. Rejects with the signal's reason alone. */
  inspect(draft: EndpointDraft, signal?: AbortSignal): Promise<EndpointInspection>;
  /** Reads from the server what only it knows and writes it into the endpoint's record. */
  probe(endpoint: Pick<ModelEndpoint, 'model_type' | 'name'>): Promise<void>;
}

/** Prompts that replace the bundled texts. The default of each type is kept in one settings document. */
export interface PromptStore {
  /** By type and name. */
  list(request?: { type?: PromptType; offset?: number; limit?: number }): Promise<PromptRecord[]>;
  get(id: string): Promise<PromptRecord | null>;
  /** Also by the name it had before it was last renamed, unless another prompt has that name now. */
  find(type: PromptType, name: string): Promise<PromptRecord | null>;
  /** @throws AppError PROMPT_EXISTS */
  create(prompt: Pick<PromptRecord, 'prompt_type' | 'name' | 'content'>): Promise<PromptRecord>;
  /** Null when there is none. @throws AppError PROMPT_EXISTS for a name in use */
  update(id: string, patch: Partial<Pick<PromptRecord, 'name' | 'content'>>): Promise<PromptRecord | null>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
  /**
   * Puts the bundled texts down as prompts named `default`, as the defaults of the first start. One that was edited
   * stays, one that was not takes the new text, and one that was removed does not come back.
   */
  seed(texts: Partial<Record<PromptType, string>>): Promise<void>;
  /** Ids by type. */
  defaults(): Promise<Partial<Record<PromptType, string>>>;
  /** One update: the former default of the type is none from then on. */
  setDefault(type: PromptType, id: string): Promise<void>;
}

/** Presets by type and name. */
export interface PresetStore {
  list(type?: PresetType): Promise<PresetRecord[]>;
  get<Type extends PresetType>(
    type: Type,
    name: string,
  ): Promise<Extract<PresetRecord, { preset_type: Type }> | null>;
  /**
   * Inserts. One that is there because this very renaming was begun before is answered as it is.
   * @throws AppError PRESET_EXISTS
   */
  create(preset: PresetRecord): Promise<PresetRecord>;
  /** Overwrites what was read; false when it was changed or removed since. */
  replace(before: PresetRecord, after: PresetRecord): Promise<boolean>;
  /** False when there is none. */
  remove(type: PresetType, name: string): Promise<boolean>;
  /**
   * Inserts what is missing; one that was seeded and never edited takes the new content; an edited one stays, and a
   * removed one stays away.
   */
  seed(preset: Pick<PresetRecord, 'name' | 'preset_type' | 'config'>): Promise<void>;
}
