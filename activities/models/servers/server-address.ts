export interface ServerAddress {
  /** Without a slash at the end. */
  base: string;
  headers: Readonly<Record<string, string>>;
}

function addressOf(url: URL, path: string, apiKey: string | null): ServerAddress {
  const { username, password } = url;
  const base = `${url.protocol}//${url.host}${path.replace(/(?<!\/)\/+$/, '')}`;
  if (apiKey !== null) return { base, headers: { authorization: `Bearer ${apiKey}` } };
  if (username === '' && password === '') return { base, headers: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { base, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

/** Where the OpenAI format is spoken: the URL as it is given, or `/v1` where it names no path. */
export function openAiAddress(baseUrl: string, apiKey: string | null): ServerAddress {
  const url = new URL(baseUrl);
  return addressOf(url, /^\/*$/.test(url.pathname) ? '/v1' : url.pathname, apiKey);
}

/** Where Ollama's own API is: the URL without the `/v1` of its OpenAI face. */
export function ollamaAddress(baseUrl: string, apiKey: string | null): ServerAddress {
  const url = new URL(baseUrl);
  return addressOf(url, url.pathname.replace(/\/(?:v1|api)\/*$/, ''), apiKey);
}

/** A server whose paths begin where its URL ends. */
export function plainAddress(baseUrl: string, apiKey: string | null): ServerAddress {
  const url = new URL(baseUrl);
  return addressOf(url, url.pathname, apiKey);
}

/** Where a reranker says whether it is well: beside the `/v1` of its other paths (vLLM, Infinity). */
export function healthUrl(baseUrl: string): string {
  return `${plainAddress(baseUrl, null).base.replace(/\/v1$/, '')}/health`;
}
