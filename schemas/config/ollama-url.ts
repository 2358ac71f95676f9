const DEFAULT_PORT = '11434';

/**
 * OLLAMA_HOST as Ollama itself reads it: a bare host, `host:port`, `:port` or a URL. Without a scheme the port is
 * 11434, with one it is the scheme's own. An address to listen on (`0.0.0.0`, `::`) means this machine.
 * Source: `envconfig.Host` of ollama/ollama.
 * @returns the URL without a slash at the end, or null for what is none
 */
export function ollamaUrl(text: string): string | null {
  const trimmed = text.trim().replace(/(?<!\/)\/+$/, '');
  const bare = !trimmed.includes('://');
  const host = trimmed.startsWith(':') ? `127.0.0.1${trimmed}` : trimmed;
  try {
    const url = new URL(bare ? `http://${host}` : host);
    if (!/^https?:$/.test(url.protocol)) return null;
    if (bare && url.port === '' && !/:80$/.test(host)) url.port = DEFAULT_PORT;
    if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
    return url.href.replace(/(?<!\/)\/+$/, '');
  } catch {
    return null;
  }
}
