import { setImmediate } from 'node:timers/promises';
import { fillPrompt, promptSlots } from '../../../schemas/models/prompts.js';
import { countInSlices, lengthWithin } from '../../text/count-in-slices.js';
import { SOURCES_END, listSourceBlocks, writeSourceBlock } from '../../models/builtin/source-blocks.js';
import type { SearchResult } from '../search/search-types.js';
import type { WebPage } from '../../ports/chat.js';
import type { ChatSource } from './chat-sources.js';

/** Less room than this and a cut source would say nothing. */
const MIN_SOURCE_TOKENS = 64;
/** For the marker, line ends and the seams between chunks that are counted one by one. */
export const TOKENS_PER_SOURCE = 12;

/** Tokens that must be left for sources, or the question cannot be answered from any. */
export const MIN_SOURCES_BUDGET = MIN_SOURCE_TOKENS + TOKENS_PER_SOURCE;

/** A source as the prompt may hold it. */
export interface Material {
  source: ChatSource;
  heading: string;
  text: string;
}

function headingOf({ chunk, version }: SearchResult): string {
  return [
    version.filename,
    ...(chunk.page === null ? [] : [`page ${chunk.page}`]),
    ...(chunk.heading_path.length === 0 ? [] : [chunk.heading_path.join(' > ')]),
  ].join(', ');
}

/** @param text what the prompt holds of it; the whole extract by default */
export function documentMaterial(result: SearchResult, text = result.chunk.text): Material {
  return {
    source: result,
    heading: headingOf(result),
    text,
  };
}

export function webMaterial(page: WebPage): Material {
  return {
    source: page,
    heading: `${page.title} (${page.url})`,
    text: page.snippet,
  };
}

/** Who answers, as the operator has it (ASSISTANT_NAME, DEFAULT_LANGUAGE); null: unsaid. */
export interface Voice {
  assistantName: string | null;
  defaultLanguage: string | null;
}

/** What the frame of a prompt holds beside sources. */
interface Frame {
  /** Of type `sys_prompt` or `spoken_style_answer`. */
  template: string;
  date: Date;
  voice: Voice;
}

/** The operator's word is said in prompts that have no slot for it, too. */
function introduction({ assistantName, defaultLanguage }: Voice, slots: readonly string[]): string {
  const sentences = [
    ...(assistantName === null || slots.includes('assistant_name') ? [] : [`Your name is ${assistantName}.`]),
    ...(defaultLanguage === null || slots.includes('default_language')
      ? []
      : [`Where the language of the question cannot be told, answer in ${defaultLanguage}.`]),
  ];
  return sentences.length === 0 ? '' : `${sentences.join(' ')}\n\n`;
}

function writeSystem({ template, date, voice }: Frame, context: string): string {
  const slots = promptSlots(template);
  const filled = fillPrompt(template, {
    current_date: date.toISOString().slice(0, 10),
    assistant_name: voice.assistantName ?? 'the assistant',
    default_language: voice.defaultLanguage ?? 'the language of the question',
    context,
  });
  // A prompt without the slot is answered from sources all the same.
  const whole = slots.includes('context') ? filled : `${filled.trimEnd()}\n\nSources:\n\n${context}`;
  return introduction(voice, slots) + whole;
}

/** Tokens of frames, which change once a day and with their template. */
const overheads = new Map<string, number>();
const MAX_OVERHEADS = 50;

/** Tokens of the system message before any source is in it. */
export async function promptOverhead(frame: Frame, signal?: AbortSignal): Promise<number> {
  const system = writeSystem(frame, SOURCES_END);
  const known = overheads.get(system);
  if (known !== undefined) return known;
  const tokens = await countInSlices(system, Infinity, signal);
  if (overheads.size >= MAX_OVERHEADS) overheads.clear();
  overheads.set(system, tokens);
  return tokens;
}

/** No source has more: a token stands for one byte at least. */
function mostTokens(materials: readonly Material[]): number {
  return materials.reduce(
    (sum, { heading, text }) =>
      sum + Buffer.byteLength(heading) + Buffer.byteLength(text) + TOKENS_PER_SOURCE,
    0,
  );
}

/** The longest start of a text, at a word's end, that stays within so many tokens. */
export async function cutToTokens(text: string, tokens: number, signal?: AbortSignal): Promise<string> {
  const length = await lengthWithin(text, tokens, signal);
  if (length === text.length) return text;
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$|\s+\S*$/, '')} …`;
}

/**
 * The first system message of a chat with retrieval: a prompt whose slot `context` holds the sources, best first, as
 * many as the budget holds. One that is too long for what is left is passed over in favour of shorter ones behind it;
 * the very first is cut instead, so that a small budget still carries the best source.
 *
 * Tokens are counted, where that is needed to know what fits, with other requests served in between.
 *
 * @param options.budget tokens (o200k) that the sources may take
 * @returns the message, and the sources in it in the order of their numbers
 * @throws the signal's reason
 */
export async function buildPrompt(
  materials: readonly Material[],
  options: Frame & { budget: number; signal?: AbortSignal },
): Promise<{ system: string; presented: ChatSource[] }> {
  const blocks: string[] = [];
  const presented: ChatSource[] = [];
  const { signal } = options;
  const surelyFits = mostTokens(materials) <= options.budget;
  let left = options.budget;
  for (const { source, heading, text } of materials) {
    const block = { number: blocks.length + 1, heading, text };
    if (surelyFits) {
      await setImmediate();
      signal?.throwIfAborted();
      blocks.push(writeSourceBlock(block));
      presented.push(source);
      continue;
    }
    const frame = (await countInSlices(block.heading, left, signal)) + TOKENS_PER_SOURCE;
    // No further than it fits.
    let tokens = await countInSlices(text, Math.max(0, left - frame), signal);
    if (frame + tokens > left) {
      if (blocks.length > 0 || left - frame < MIN_SOURCE_TOKENS) continue;
      block.text = await cutToTokens(text, left - frame - 1, signal);
      tokens = await countInSlices(block.text, Infinity, signal);
    }
    left -= frame + tokens;
    // Here, in the turn of its own tokens: all of them at once would take tens of milliseconds.
    blocks.push(writeSourceBlock(block));
    presented.push(source);
  }
  return { system: writeSystem(options, listSourceBlocks(blocks)), presented };
}
