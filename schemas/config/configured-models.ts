/** Model servers as the environment names them. */

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
  return pairs.flatMap(([base, model, key, ollama]) => [
    ...(env[base] !== undefined && env[model] === undefined ? [`${model}: is needed with ${base}`] : []),
    ...(env[model] !== undefined && env[base] === undefined && (!ollama || env['OLLAMA_HOST'] === undefined)
      ? [`${base}: is needed with ${model}${ollama ? ' (or OLLAMA_HOST)' : ''}`]
      : []),
    ...(env[key] !== undefined && env[key] !== NO_KEY && env['SECRETS_KEY'] === undefined
      ? [`SECRETS_KEY: is needed to store ${key}`]
      : []),
  ]);
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
