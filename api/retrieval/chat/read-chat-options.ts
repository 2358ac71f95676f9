import type { ChatSettings, ChatRequestOptions } from '../../../activities/retrieval/chat/chat-request.js';
import { AppError } from '../../../schemas/app-error.js';
import type { ChatMetadata } from '../../../schemas/retrieval/chat-api.js';

/** Wire contract, section 1.9: they show how an answer came about, or bend it to find out. */
const ADMINS_ALONE = [
  'include_retrieval_trace',
  'compare_original_query',
  'bypass_query_contextualization',
  'retrieval_similarity_threshold',
  'retrieval_top_k',
  'retrieval_disable_reranker',
  'retrieval_disable_expansion',
] as const;

function override({ llm_override: given }: ChatMetadata): Pick<ChatRequestOptions, 'override'> {
  const { model, base_url: baseUrl, api_key: apiKey } = given ?? {};
  const named = {
    ...(model == null ? {} : { model }),
    ...(baseUrl == null ? {} : { baseUrl }),
    ...(apiKey == null ? {} : { apiKey }),
  };
  return Object.keys(named).length === 0 ? {} : { override: named };
}

function verification({ require_verified: wanted }: ChatMetadata): Pick<ChatRequestOptions, 'unverified'> {
  if (wanted == null || wanted === false) return {};
  return { unverified: wanted === true ? 'drop' : wanted };
}

/**
 * A request's `metadata` in our words.
 * @throws AppError AUTH_ERROR, plain, when a caller that is no administrator asks for diagnostics
 */
export function readChatOptions(
  metadata: ChatMetadata | null | undefined,
  isAdmin: boolean,
): ChatRequestOptions & Pick<ChatSettings, 'candidates' | 'similarityThreshold'> {
  if (metadata == null) return {};
  const diagnostic = ADMINS_ALONE.find((key) => metadata[key] != null && metadata[key] !== false);
  if (diagnostic !== undefined && !isAdmin)
    throw new AppError('AUTH_ERROR', 'Admin privileges required', { plain: true });
  const { workspace, attachments } = metadata;
  const { retrieval_top_k: candidates, retrieval_similarity_threshold: threshold } = metadata;
  return {
    spokenStyle: metadata.spoken_style_answer === true,
    mapReduce: metadata.use_map_reduce === true,
    webSearch: metadata.websearch === true,
    requireRetrieval: metadata.require_retrieval === true,
    allRetrieved: metadata.include_all_retrieved_sources === true,
    trace: metadata.include_retrieval_trace === true,
    compareOriginal: metadata.compare_original_query === true,
    bypassRewriting: metadata.bypass_query_contextualization === true,
    disableReranker: metadata.retrieval_disable_reranker === true,
    disableExpansion: metadata.retrieval_disable_expansion === true,
    ...override(metadata),
    ...verification(metadata),
    ...(workspace == null ? {} : { workspace }),
    ...(attachments == null ? {} : { attachments: attachments.map(({ id }) => id) }),
    ...(candidates == null ? {} : { candidates }),
    ...(threshold == null ? {} : { similarityThreshold: threshold }),
  };
}
