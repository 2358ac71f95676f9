import { Tokenizer } from '@huggingface/tokenizers';
import type { ModelSettings } from './model-settings.js';
import { UnusableModel } from './unusable-model.js';

/** A question and a text as the model reads them. */
export interface EncodedPair {
  ids: number[];
  types: number[];
}

export interface PairEncoder {
  padId: number;
  /** Reads the question once; answers what encodes it with each text. */
  withQuery(query: string): (text: string) => EncodedPair;
}

/** What is used of the library, whose own declarations do not resolve under `nodenext`. */
interface TokenizerPart {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  token_to_id(token: string): number | undefined;
  post_processor:
    | ((
        first: string[],
        second: string[],
        special: boolean,
      ) => { tokens: string[]; token_type_ids?: number[] })
    | null;
}

const Library = Tokenizer as unknown as new (tokenizer: object, config: object) => TokenizerPart;

interface Frame {
  before: number[];
  between: number[];
  after: number[];
  typeOfFirst: number;
  typeOfSecond: number;
  types: { before: number[]; between: number[]; after: number[] };
}

/** Stand for the two texts while the frame around them is read; no vocabulary has control characters. */
const FIRST = '\u0001';
const SECOND = '\u0002';

/**
 * A token has fewer characters than this, or the text is no text: what lies behind so many times the window is cut off
 * before it is read, since reading takes time and truncation would drop it.
 */
const MAX_CHARACTERS_OF_TOKEN = 64;

/** Special tokens around and between two texts, such as `[CLS] first [SEP] second [SEP]`, as the tokenizer says. */
function frameOf(tokenizer: TokenizerPart): Frame {
  const joined = tokenizer.post_processor?.([FIRST], [SECOND], true);
  const tokens = joined?.tokens ?? [];
  const [first, second] = [tokens.indexOf(FIRST), tokens.indexOf(SECOND)];
  if (first < 0 || second < first)
    throw new UnusableModel('its tokenizer.json does not say how to join two texts');
  const types = joined?.token_type_ids ?? tokens.map(() => 0);
  const ids = (from: number, to: number): number[] =>
    tokens.slice(from, to).map((token) => {
      const id = tokenizer.token_to_id(token);
      if (id === undefined)
        throw new UnusableModel(`its tokenizer.json uses ${token}, which is not among its tokens`);
      return id;
    });
  return {
    before: ids(0, first),
    between: ids(first + 1, second),
    after: ids(second + 1, tokens.length),
    typeOfFirst: types[first] ?? 0,
    typeOfSecond: types[second] ?? 0,
    types: {
      before: types.slice(0, first),
      between: types.slice(first + 1, second),
      after: types.slice(second + 1),
    },
  };
}

/**
 * Lengths of both texts after truncation: the longer one gives first, and where both are longer than half of the room
 * each has half. Source: `truncate_encodings` with `LongestFirst` in huggingface/tokenizers,
 * tokenizers/src/utils/truncation.rs, which sentence-transformers' CrossEncoder asks for by `truncation=True`.
 */
function longestFirst(first: number, second: number, room: number): [first: number, second: number] {
  if (first + second <= room) return [first, second];
  const shorter = Math.min(first, second);
  const half = Math.floor(room / 2);
  const [less, more] = shorter <= half ? [shorter, room - shorter] : [half, room - half];
  return first <= second ? [less, more] : [more, less];
}

/**
 * Encodes pairs as the tokenizers of Hugging Face do. The library neither truncates nor takes an empty second text, so
 * both texts are read without special tokens, and put into the frame that its post-processor makes.
 * @throws UnusableModel when the tokenizer is of a kind that cannot be read
 */
export function createPairEncoder(
  tokenizerJson: object,
  tokenizerConfig: object,
  settings: ModelSettings,
): PairEncoder {
  let tokenizer: TokenizerPart;
  try {
    tokenizer = new Library(tokenizerJson, tokenizerConfig);
  } catch (error) {
    throw new UnusableModel(`its tokenizer.json cannot be read: ${(error as Error).message}`);
  }
  const frame = frameOf(tokenizer);
  const special = frame.before.length + frame.between.length + frame.after.length;
  const room = settings.maxTokens - special;
  if (room < 2) throw new UnusableModel(`it takes ${settings.maxTokens} tokens, which hold no pair`);
  const padId =
    settings.padId ?? (settings.padToken === null ? 0 : (tokenizer.token_to_id(settings.padToken) ?? 0));

  const read = (text: string): number[] =>
    tokenizer
      .encode(text.slice(0, settings.maxTokens * MAX_CHARACTERS_OF_TOKEN), { add_special_tokens: false })
      // What an alphabet without an unknown token lacks is left out.
      .ids.filter((id) => id !== undefined);
  const known = (type: number): number => Math.min(type, settings.typeKinds - 1);

  return {
    padId,
    withQuery(query) {
      const first = read(query);
      return (text) => {
        const second = read(text);
        const [ofFirst, ofSecond] = longestFirst(first.length, second.length, room);
        return {
          ids: [
            ...frame.before,
            ...first.slice(0, ofFirst),
            ...frame.between,
            ...second.slice(0, ofSecond),
            ...frame.after,
          ],
          types: [
            ...frame.types.before,
            ...new Array<number>(ofFirst).fill(frame.typeOfFirst),
            ...frame.types.between,
            ...new Array<number>(ofSecond).fill(frame.typeOfSecond),
            ...frame.types.after,
          ].map(known),
        };
      };
    },
  };
}
