export interface ScriptedToolCall {
  name: string;
  arguments: object;
  /** So many calls in one answer, of Ollama: the first in a part of its own. */
  times?: number;
}

export interface ScriptedModels {
  /** Length of the embedder's vectors. */
  dimension: number;
  /** What the embedder makes of a text. */
  vector: (text: string, dimension: number) => number[];
  /** Words that the embedder takes; a longer text is refused as too long. */
  windowWords: number;
  /** Texts that one request may hold. */
  maxBatch: number;
  /** What the embedder's description names as its tokeniser (Ollama only). */
  tokenizer: string;
  /** Tokens that both models claim to take. */
  contextTokens: number;
  /** Words that a chat prompt may have. */
  promptWords: number;
  embedder: string;
  llm: string;
  reranker: string;
  /** In no list. */
  vlm: string;
  /** Whether the description of `vlm` says that it takes pictures (Ollama only). */
  sees: boolean;
  /** How well a text answers a query. */
  rank: (query: string, text: string) => number;
  stt: string;
  /** What is said in every recording. */
  segments: { start: number; end: number; text: string }[];
  /** Whether the transcription model tells when something is said. */
  timed: boolean;
  /** Needed as a bearer token when set. */
  apiKey: string | null;
  /** Which dialects are spoken. */
  speaks: readonly ('ollama' | 'openai' | 'reranker')[];
  /** What the language model says. */
  answer: (messages: readonly { role: string; content: string }[]) => string;
  /** What the language model wants called behind its words; in streams only. */
  toolCall: ScriptedToolCall | null;
  /** Between two words of a stream. */
  msPerWord: number;
  /** Why it says no more. */
  finish: 'stop' | 'length';
}
