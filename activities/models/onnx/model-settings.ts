/** What a model's `config.json` and `tokenizer_config.json` say that matters for pairs of texts. */
export interface ModelSettings {
  /** Tokens of a pair at most. */
  maxTokens: number;
  /** Kinds of token types that the model knows; a model of one takes zeros alone. */
  typeKinds: number;
  padId: number | null;
  padToken: string | null;
}

type Json = Readonly<Record<string, unknown>>;

/** Assumed where no file says how much a model takes. */
const USUAL_TOKENS = 512;
/**
 * Whatever a model declares: attention over a longer pair takes gigabytes, of which the WebAssembly build has four, and
 * no chunk is so long.
 */
const MAX_TOKENS = 2048;

/**
 * Their position embeddings begin behind the padding's, so that a model with 514 positions takes 512 tokens. Source:
 * `create_position_ids_from_input_ids` in transformers/models/roberta/modeling_roberta.py, which the others copy.
 */
const POSITIONS_BEHIND_PADDING: ReadonlySet<unknown> = new Set([
  'roberta',
  'roberta-prelayernorm',
  'xlm-roberta',
  'xlm-roberta-xl',
  'camembert',
  'xmod',
  'data2vec-text',
  'ibert',
  'mpnet',
  'longformer',
]);

function wholeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** A token as it stands in `tokenizer_config.json`: its text, or an object with it. */
function tokenText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : null;
}

function positionsOf(config: Json): number | null {
  const positions = wholeNumber(config['max_position_embeddings']);
  // Zero and below: positions are relative, and there is no such bound.
  if (positions === null || positions === 0) return null;
  const behind = POSITIONS_BEHIND_PADDING.has(config['model_type']);
  return behind ? positions - ((wholeNumber(config['pad_token_id']) ?? 1) + 1) : positions;
}

/**
 * Reads both files. Without a limit of its own a tokenizer writes 1e30 (`VERY_LARGE_INTEGER` of transformers), which is
 * no whole number that is meant.
 */
export function readModelSettings(config: Json, tokenizerConfig: Json): ModelSettings {
  const told = [positionsOf(config), wholeNumber(tokenizerConfig['model_max_length']) || null];
  const limits = told.filter((limit) => limit !== null);
  return {
    maxTokens: Math.min(MAX_TOKENS, ...(limits.length === 0 ? [USUAL_TOKENS] : limits)),
    typeKinds: wholeNumber(config['type_vocab_size']) ?? 2,
    padId: wholeNumber(config['pad_token_id']),
    padToken: tokenText(tokenizerConfig['pad_token']),
  };
}
