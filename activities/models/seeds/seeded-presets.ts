import type { Config } from '../../../schemas/config/config.js';
import type { IndexationConfig, PresetRecord, RetrievalConfig } from '../../../schemas/models/presets.js';
import {
  IndexationConfigBody,
  MAX_CHUNK_SIZE,
  MAX_RESULTS,
  RetrievalConfigBody,
  readIndexationConfig,
  readRetrievalConfig,
} from '../../../schemas/models/presets-api.js';

/** A preset may hold no more, whatever the environment says. */
function atMost(results: number): number {
  return Math.min(results, MAX_RESULTS);
}

type Seed = Pick<PresetRecord, 'name' | 'preset_type' | 'config'>;

/**
 * The presets that exist from the first start on (wire contract, section 1.10). What the environment sets
 * governs `default`, and the retrieval presets, which differ from it in their type alone.
 */
export function seededPresets(config: Pick<Config, 'documents' | 'search' | 'chat'>): Seed[] {
  const indexation = (
    name: string,
    chunking: { name?: string; size: number; overlap: number },
    rest: Partial<IndexationConfig> = {},
  ) => ({
    name,
    preset_type: 'indexation' as const,
    // What is not said is off: which models there are is for the operator to say.
    config: readIndexationConfig(
      IndexationConfigBody.parse({
        ...rest,
        chunking: {
          name: chunking.name,
          chunk_size: Math.min(chunking.size, MAX_CHUNK_SIZE),
          chunk_overlap_rate: chunking.overlap,
        },
      }),
    ).config,
  });
  const retrieval = (name: string, type: RetrievalConfig['type']) => ({
    name,
    preset_type: 'retrieval' as const,
    config: readRetrievalConfig(
      RetrievalConfigBody.parse({
        type,
        top_k: atMost(config.search.candidates),
        top_n: atMost(config.chat.topN),
        enable_reranker: config.search.rerankerEnabled,
        include_related: config.search.presets.includeRelated,
        include_ancestors: config.search.presets.includeAncestors,
      }),
    ).config,
  });
  const { chunker, chunkSize, chunkOverlapRate } = config.documents;
  return [
    indexation(
      'default',
      { name: chunker, size: chunkSize, overlap: chunkOverlapRate },
      {
        ...(config.documents.contextualize && {
          enable_contextualization: true,
          contextualization_mode: 'simple',
        }),
        ...(config.documents.captionImages && { enable_image_captioning: true }),
      },
    ),
    indexation('legal', { size: 1024, overlap: 0.25 }, { contextualization_mode: 'structured' }),
    indexation('finance', { size: 768, overlap: 0.2 }),
    retrieval('default', config.search.presets.type),
    retrieval('multiquery', 'multiQuery'),
    retrieval('hyde', 'hyde'),
  ];
}
