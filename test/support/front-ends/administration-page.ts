import type { Page, PageCall } from './replay-calls.js';

/** A server that is not there: the page asks for it, and shows that it was not reached. */
const AWAY = 'http://127.0.0.1:9/v1';
const KEY = 'sk-0123456789abcdef';

const SETTINGS = {
  description: 'string',
  embedder: 'string',
  indexation_preset: 'string',
  retrieval_preset: 'string',
  dimension: 'integer|null',
  created_at: 'date',
  document_count: 'integer',
  chat_history_depth: 'integer',
  chat_llm: 'string|null',
};

const CONFIG = {
  ...SETTINGS,
  name: 'string',
  indexation_pipeline: 'object',
  retrieval_pipeline: 'object',
  generation_prompt_names: 'object',
  indexed_embedders: 'array',
};

const USER = {
  id: 'integer',
  display_name: 'string|null',
  external_user_id: 'string|null',
  email: 'string|null',
  is_admin: 'boolean',
  file_quota: 'integer|null',
};

const ENDPOINT = {
  name: 'string',
  model_type: 'string',
  endpoint: 'string',
  model_name: 'string|null',
  batch_size: 'integer',
  timeout: 'number',
  extra: 'object',
  has_api_key: 'boolean',
  is_default: 'boolean',
  created_at: 'date',
  updated_at: 'date',
};

const VALIDATION = {
  reachable: 'boolean',
  model_found: 'boolean|null',
  models_served: 'array|null',
  transcription_supported: 'boolean|null',
  detail: 'string|null',
};

const PRESET = {
  name: 'string',
  preset_type: 'string',
  config: 'object',
  created_at: 'date',
  updated_at: 'date',
  used_by_partitions: 'integer',
};

const PROMPT = {
  id: 'string',
  prompt_type: 'string',
  name: 'string',
  content: 'string',
  is_default: 'boolean',
  created_at: 'date',
  updated_at: 'date',
  used_by: 'integer',
};

const TASK = {
  task_id: 'string',
  state: 'string',
  'details.file_id': 'string',
  'details.partition': 'string',
  'details.metadata': 'object',
  'details.user_id': 'integer',
  created_at: 'date',
  duration_ms: 'integer|null',
  url: 'string',
};

const EXTRACT = { link: 'string', content: 'string', metadata: 'object' };

/** The same fields under another place. */
function under(place: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, types]) => [`${place}${name}`, types]));
}

const ACCOUNT: PageCall[] = [
  {
    method: 'GET',
    path: '/users/info',
    status: 200,
    reads: {
      ...USER,
      chainlit_enabled: 'boolean',
      file_count: 'integer',
      pending_files: 'integer',
      total_files: 'integer',
    },
  },
  // Both are coped with where there is no single sign-on.
  { method: 'GET', path: '/auth/me', status: 404 },
  { method: 'GET', path: '/health_check', status: 200, reads: { '': 'string' } },
  { method: 'GET', path: '/version', status: 200, reads: { version: 'string' } },
  {
    method: 'GET',
    path: '/config',
    status: 200,
    reads: { chainlit_enabled: 'boolean', grafana_url: 'string|null', super_admin_mode: 'boolean' },
  },
  {
    method: 'GET',
    path: '/actors/',
    status: 200,
    reads: under('actors[].', {
      actor_id: 'string',
      name: 'string',
      class_name: 'string',
      state: 'string',
      namespace: 'string',
    }),
  },
];

const USERS: PageCall[] = [
  {
    method: 'POST',
    path: '/users/',
    json: {
      display_name: 'Candida {suffix}',
      email: '{suffix}@example.org',
      is_admin: false,
      file_quota: null,
    },
    status: 201,
    reads: { ...USER, token: 'string' },
    keeps: { user: 'id' },
  },
  {
    method: 'GET',
    path: '/users/',
    status: 200,
    reads: under('users[].', { ...USER, file_count: 'integer|null', created_at: 'date' }),
  },
  { method: 'GET', path: '/users/{user}', status: 200, reads: USER },
  {
    method: 'PATCH',
    path: '/users/{user}',
    json: { is_admin: false, file_quota: 7 },
    status: 200,
    finds: { file_quota: '7' },
  },
  { method: 'POST', path: '/users/{user}/regenerate_token', status: 200, reads: { token: 'string' } },
];

const PARTITIONS: PageCall[] = [
  { method: 'POST', path: '/partition/{partition}', status: 201 },
  {
    // It deletes the partition again when this is refused.
    method: 'PATCH',
    path: '/partition/{partition}',
    json: {
      description: 'Mills',
      embedder: 'default',
      indexation_preset: 'default',
      retrieval_preset: 'default',
      chat_history_depth: 4,
      chat_llm: null,
    },
    status: 200,
    reads: CONFIG,
    finds: { description: 'Mills' },
    keeps: { embedder: 'embedder' },
  },
  { method: 'PATCH', path: '/partition/{partition}', json: { description: '' }, status: 200, reads: CONFIG },
  {
    method: 'GET',
    path: '/partition/',
    status: 200,
    reads: under('partitions[].', { ...SETTINGS, partition: 'string', role: 'string' }),
    finds: { 'partitions[partition={partition}].document_count': '0' },
  },
  { method: 'GET', path: '/partition/{partition}/embedder-swap', status: 200, reads: { '': 'null' } },
  {
    method: 'GET',
    path: '/partition/{partition}/users/candidates?search=Candida&limit=25',
    status: 200,
    reads: {
      'candidates[].user_id': 'integer',
      'candidates[].display_name': 'string|null',
      has_more: 'boolean',
      next_cursor: 'integer|null',
    },
    finds: { limit: '25' },
  },
  {
    method: 'GET',
    path: '/partition/{partition}/users/candidates?search={user}&cursor=0&limit=1',
    status: 200,
    finds: { 'candidates[].user_id': '{user}' },
  },
  {
    method: 'POST',
    path: '/partition/{partition}/users',
    form: { user_id: '{user}', role: 'viewer' },
    status: 201,
  },
  {
    method: 'PATCH',
    path: '/partition/{partition}/users/{user}',
    form: { role: 'editor' },
    status: 200,
  },
  {
    method: 'GET',
    path: '/partition/{partition}/users',
    status: 200,
    reads: under('members[].', {
      user_id: 'integer',
      display_name: 'string|null',
      email: 'string|null',
      added_at: 'date',
    }),
    finds: { 'members[user_id={user}].role': 'editor' },
  },
  { method: 'DELETE', path: '/partition/{partition}/users/{user}', status: 204 },
];

const FILES: PageCall[] = [
  {
    method: 'GET',
    path: '/indexer/supported/types',
    status: 200,
    reads: { 'extensions[]': 'string', 'mimetypes[]': 'string' },
  },
  // Before anything is indexed, and of a file that is not there.
  { method: 'GET', path: '/partition/{partition}', status: 200, reads: { files: 'array' } },
  {
    method: 'GET',
    path: '/partition/{partition}/chunks?include_embedding=false&file_id=mill',
    status: 200,
    reads: { chunks: 'array' },
  },
  {
    method: 'POST',
    path: '/indexer/partition/{partition}/file/mill',
    form: { file: 'The mill opens at nine.', metadata: '{"mimetype": "application/x-odd", "owner": "ada"}' },
    filename: 'mill.txt',
    status: 201,
    reads: { task_status_url: 'string' },
    keepsLastStep: { task: 'task_status_url' },
    settles: true,
  },
  {
    method: 'GET',
    path: '/indexer/task/{task}',
    status: 200,
    reads: { task_id: 'string', 'details.file_id': 'string', 'details.metadata': 'object' },
    finds: { task_state: 'COMPLETED', 'details.partition': '{partition}' },
  },
  // It can be stopped no more, and there was no error.
  { method: 'DELETE', path: '/indexer/task/{task}', status: 409 },
  { method: 'GET', path: '/indexer/task/{task}/error', status: 404 },
  { method: 'GET', path: '/queue/tasks', status: 200, reads: under('tasks[].', TASK) },
  { method: 'GET', path: '/queue/tasks?task_status=active', status: 200, reads: { tasks: 'array' } },
  {
    method: 'GET',
    path: '/queue/info',
    status: 200,
    reads: {
      'workers.total_slots': 'integer',
      'workers.pool_size': 'integer',
      'workers.max_per_actor': 'integer',
      'tasks.active': 'integer',
      'tasks.active_statuses': 'object',
      'tasks.total_completed': 'integer',
      'tasks.total_cancelled': 'integer',
      'tasks.total_failed': 'integer',
    },
  },
  {
    method: 'GET',
    path: '/partition/{partition}?limit=500',
    status: 200,
    reads: under('files[].', { file_id: 'string', partition: 'string', link: 'string', filename: 'string' }),
    finds: { 'files[file_id=mill].owner': 'ada' },
  },
  { method: 'GET', path: '/partition/{partition}?limit=0', status: 200, reads: { files: 'array' } },
  {
    method: 'GET',
    path: '/partition/{partition}/file/mill?limit=100',
    status: 200,
    reads: { metadata: 'object', 'documents[].link': 'string' },
    keepsLastStep: { extract: 'documents[].link' },
  },
  {
    method: 'GET',
    path: '/partition/{partition}/file/mill?limit=0',
    status: 200,
    reads: { documents: 'array' },
  },
  {
    method: 'GET',
    path: '/partition/{partition}/chunks?include_embedding=false&file_id=mill',
    status: 200,
    reads: { ...under('chunks[].', EXTRACT), 'chunks[].metadata.vector': 'absent' },
    finds: { 'chunks[].metadata.file_id': 'mill' },
  },
  {
    method: 'GET',
    path: '/extract/{extract}',
    status: 200,
    reads: { page_content: 'string', metadata: 'object' },
  },
  {
    // It warns of wrong results where a model or a dimension is not the partition's.
    method: 'GET',
    path: '/partition/{partition}/config',
    status: 200,
    reads: {
      ...CONFIG,
      'indexed_embedders[].model_name': 'string',
      'indexed_embedders[].dimension': 'integer',
      'indexed_embedders[].vector_field': 'string',
    },
    finds: {
      document_count: '1',
      'indexed_embedders[].embedder': '{embedder}',
      'indexed_embedders[].file_count': '1',
    },
  },
  {
    method: 'PATCH',
    path: '/indexer/partition/{partition}/file/mill',
    form: { metadata: '{"owner": "bob"}' },
    status: 200,
    reads: { message: 'string' },
  },
  {
    method: 'PUT',
    path: '/indexer/partition/{partition}/file/mill',
    form: { file: 'The mill opens at ten.' },
    filename: 'mill.txt',
    status: 202,
    settles: true,
  },
  { method: 'DELETE', path: '/indexer/partition/{partition}/file/mill', status: 204 },
  {
    method: 'GET',
    path: '/partition/{partition}/chunks?include_embedding=false&file_id=mill',
    status: 200,
    reads: { chunks: 'array' },
  },
];

const ENDPOINT_PATH = '/model-endpoints/llm/writer-{suffix}';

const MODELS: PageCall[] = [
  { method: 'GET', path: '/model-endpoints/', status: 200, reads: under('[].', ENDPOINT) },
  {
    method: 'GET',
    path: '/model-endpoints/?model_type=llm',
    status: 200,
    reads: under('[].', ENDPOINT),
    keeps: { llm: '[is_default=true].name' },
  },
  {
    method: 'POST',
    path: '/model-endpoints/validate',
    json: { endpoint: AWAY, model_type: 'llm', model_name: 'm', timeout: 30, api_key: KEY },
    status: 200,
    reads: VALIDATION,
    finds: { reachable: 'false' },
  },
  {
    method: 'POST',
    path: '/model-endpoints/',
    json: {
      name: 'writer-{suffix}',
      model_type: 'llm',
      endpoint: AWAY,
      model_name: 'm',
      batch_size: 32,
      timeout: 30,
      extra: { implementation: 'vllm', api_key: KEY, client_secret: 'hidden by the page' },
    },
    status: 201,
    reads: { ...ENDPOINT, 'extra.api_key': 'string' },
    finds: { has_api_key: 'true' },
  },
  {
    // What it hid from the person who edits, it returns so.
    method: 'PUT',
    path: ENDPOINT_PATH,
    json: {
      endpoint: AWAY,
      model_name: 'm',
      batch_size: 16,
      timeout: 30,
      extra: {
        implementation: 'vllm',
        api_key: '<redacted>',
        client_secret: '<redacted>',
        max_output_tokens: 99,
      },
    },
    status: 200,
    reads: ENDPOINT,
    finds: { has_api_key: 'true', batch_size: '16', 'extra.client_secret': 'hidden by the page' },
  },
  { method: 'PUT', path: ENDPOINT_PATH, json: { extra: {} }, status: 200, finds: { has_api_key: 'true' } },
  { method: 'POST', path: `${ENDPOINT_PATH}/reveal-api-key`, status: 200, finds: { api_key: KEY } },
  { method: 'POST', path: `${ENDPOINT_PATH}/validate`, status: 200, reads: VALIDATION },
  {
    method: 'POST',
    path: '/model-endpoints/validate',
    json: {
      endpoint: AWAY,
      model_type: 'llm',
      model_name: 'm',
      timeout: 30,
      stored_api_key_model_type: 'llm',
      stored_api_key_name: 'writer-{suffix}',
    },
    status: 200,
    reads: VALIDATION,
  },
  { method: 'POST', path: `${ENDPOINT_PATH}/set-default`, status: 200, finds: { is_default: 'true' } },
  { method: 'GET', path: ENDPOINT_PATH, status: 200, reads: ENDPOINT, finds: { is_default: 'true' } },
  { method: 'POST', path: '/model-endpoints/llm/{llm}/set-default', status: 200 },
  {
    method: 'PUT',
    path: ENDPOINT_PATH,
    json: { extra: { api_key: '' } },
    status: 200,
    finds: { has_api_key: 'false' },
  },
  { method: 'DELETE', path: ENDPOINT_PATH, status: 204 },
];

const PROMPTS: PageCall[] = [
  {
    method: 'GET',
    path: '/prompts/?offset=0&limit=200',
    status: 200,
    reads: under('[].', PROMPT),
    keeps: { tagger: '[prompt_type=topic_tagger].id' },
  },
  {
    method: 'POST',
    path: '/prompts/',
    json: {
      prompt_type: 'topic_tagger',
      name: 'topics-{suffix}',
      content: 'Topics of {text}',
      is_default: true,
    },
    status: 201,
    reads: PROMPT,
    finds: { is_default: 'true', used_by: '0' },
    keeps: { prompt: 'id' },
  },
  { method: 'PUT', path: '/prompts/{tagger}/default', status: 200, finds: { is_default: 'true' } },
  {
    method: 'PATCH',
    path: '/prompts/{prompt}',
    json: { name: 'subjects-{suffix}', content: 'Subjects of {text}', is_default: true },
    status: 200,
    reads: PROMPT,
    finds: { is_default: 'true' },
  },
  { method: 'PATCH', path: '/prompts/{prompt}', json: { used_by: 1 }, status: 422 },
  { method: 'PATCH', path: '/prompts/{tagger}', json: { is_default: true }, status: 200 },
  { method: 'GET', path: '/prompts/{prompt}', status: 200, finds: { is_default: 'false' } },
];

const PRESET_PATH = '/presets/indexation/rich-{suffix}';

const PRESETS: PageCall[] = [
  {
    method: 'GET',
    path: '/presets/options',
    status: 200,
    reads: {
      'chunking_strategies[]': 'string',
      'parsing_strategies[]': 'string',
      'retrieval_types[]': 'string',
      'reranker_providers[]': 'string',
    },
  },
  { method: 'GET', path: '/presets/', status: 200, reads: under('[].', PRESET) },
  {
    method: 'POST',
    path: '/presets/',
    json: {
      name: 'rich-{suffix}',
      preset_type: 'indexation',
      config: {
        chunking: { name: 'recursive_splitter', chunk_size: 256, chunk_overlap_rate: 0.1 },
        enable_contextualization: true,
        contextualization_llm: '{llm}',
        contextualization_prompt_name: null,
        enable_topic_tagging: true,
        topic_tagging_llm: '{llm}',
        topic_tagging_prompt_name: 'subjects-{suffix}',
        max_topic_tags: 7,
        enable_entity_extraction: false,
      },
    },
    status: 201,
    reads: { ...PRESET, warnings: 'absent' },
    finds: {
      'config.contextualization_mode': 'simple',
      'config.topic_tagging_llm': '{llm}',
      'config.topic_tagging_prompt_name': 'subjects-{suffix}',
    },
  },
  { method: 'GET', path: '/prompts/{prompt}', status: 200, finds: { used_by: '1' } },
  {
    method: 'PUT',
    path: PRESET_PATH,
    json: { config: { chunking: { chunk_size: 128 }, metadata_extraction_llm: 'x' } },
    status: 200,
    reads: { ...PRESET, 'warnings[]': 'string' },
  },
  { method: 'GET', path: PRESET_PATH, status: 200, reads: PRESET },
  { method: 'DELETE', path: PRESET_PATH, status: 204 },
  {
    method: 'POST',
    path: '/presets/',
    json: {
      name: 'search-{suffix}',
      preset_type: 'retrieval',
      config: {
        type: 'hyde',
        hyde_prompt_name: null,
        llm: null,
        reranker: null,
        enable_reranker: false,
        top_k: 50,
        top_n: 10,
        similarity_threshold: 0.6,
        include_related: true,
        include_ancestors: true,
        rrf_k: 60,
      },
    },
    status: 201,
    reads: { ...PRESET, warnings: 'absent' },
  },
  { method: 'DELETE', path: '/presets/retrieval/search-{suffix}', status: 204 },
  { method: 'DELETE', path: '/prompts/{prompt}', status: 204 },
];

/** The administration page of the 2.3 line: its calls and the fields it reads (wire contract, section 5). */
export const administrationPage: Page = {
  name: 'administration page',
  sendsJsonType: true,
  calls: [
    ...ACCOUNT,
    ...USERS,
    ...PARTITIONS,
    ...FILES,
    ...MODELS,
    ...PROMPTS,
    ...PRESETS,
    { method: 'DELETE', path: '/partition/{partition}', status: 204 },
    { method: 'DELETE', path: '/users/{user}', status: 204 },
  ],
};
