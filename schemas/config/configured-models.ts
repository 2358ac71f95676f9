/** Model servers as the environment names them. */
import { isModelFolderName, ONNX_ENDPOINT } from '../models/model-endpoints.js';
import type { RerankerProvider } from '../models/model-endpoints.js';

/** What clients write where a server asks for a key and takes any. */
const NO_KEY = 'EMPTY';

/** Variables that only make sense together. */
export function modelProblems(env: Readonly<Record<string, string | undefined>>): string[] {
  // Last: whether OLLAMA_HOST can stand in for the address.
  const pairs = [
    ['EMBEDDER_BASE_URL', 'EMBEDDER_MODEL_NAME', 'EMBEDDER_API_KEY', true],
    ['BASE_URL', 'MODEL', 'API_KEY', true],
    ['RERANKER_BASE_URL', 'RERANKER_MODEL', 'RERANKER_API_KEY', false],
    ['VLM_BASE_URL', 'VLM_MODEL', 'VLM_API_KEY', true],
    ['TRANSCRIBER_BASE_URL', 'TRANSCRIBER_MODEL', 'TRANSCRIBER_API_KEY', false],
  ] as const;
  const withoutServer = env['RERANKER_PROVIDER'] === 'onnx';
  const served = pairs.filter(([base]) => !withoutServer || base !== 'RERANKER_BASE_URL');
  const problems = withoutServer ? onnxProblems(env) : [];
  return served
    .flatMap(([base, model, key, ollama]) => [
      ...(env[base] !== undefined && env[model] === undefined ? [`${model}: is needed with ${base}`] : []),
      ...(env[model] !== undefined && env[base] === undefined && (!ollama || env['OLLAMA_HOST'] === undefined)
        ? [`${base}: is needed with ${model}${ollama ? ' (or OLLAMA_HOST)' : ''}`]
        : []),
      ...(env[key] !== undefined && env[key] !== NO_KEY && env['SECRETS_KEY'] === undefined
        ? [`SECRETS_KEY: is needed to store ${key}`]
        : []),
    ])
    .concat(problems);
}

/** What a reranker without a server needs, and what says nothing to it. */
function onnxProblems(env: Readonly<Record<string, string | undefined>>): string[] {
  const { RERANKER_MODEL: model } = env;
  return [
    ...['RERANKER_MODEL', 'MODELS_DIR'].flatMap((name) =>
      env[name] === undefined ? [`${name}: is needed with RERANKER_PROVIDER=onnx`] : [],
    ),
    ...(model === undefined || isModelFolderName(model)
      ? []
      : ['RERANKER_MODEL: must be the name of one folder in MODELS_DIR, of letters, digits, . _ -']),
    ...['RERANKER_BASE_URL', 'RERANKER_API_KEY'].flatMap((name) =>
      env[name] === undefined ? [] : [`${name}: there is no server with RERANKER_PROVIDER=onnx`],
    ),
  ];
}

/** Where the reranker is: a model of the folder has an address of its own. */
export function rerankerAddress(provider: RerankerProvider, baseUrl: string | undefined): string | undefined {
  return provider === 'onnx' ? ONNX_ENDPOINT : baseUrl;
}

/** A model server as the environment names it. */
export function configuredModel<Provider extends string>(given: {
  baseUrl: string | undefined;
  modelName: string | undefined;
  apiKey: string | undefined;
  provider: Provider | undefined;
  ollama?: string | undefined;
}) {
  const { baseUrl, modelName, apiKey, provider, ollama } = given;
  const url = baseUrl ?? ollama;
  if (url === undefined || modelName === undefined) return null;
  return {
    baseUrl: url,
    modelName,
    apiKey: apiKey === undefined || apiKey === NO_KEY ? null : apiKey,
    provider: provider ?? (baseUrl === undefined ? ('ollama' as const) : null),
  };
}
