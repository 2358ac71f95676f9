import { setImmediate } from 'node:timers/promises';
import { countTokens } from '../../text/token-count.js';
import type { ChatDelta, ChatMessage, ChatOptions, ChatReply, LanguageModel } from '../../ports/models.js';
import { countMessageTokens } from './message-tokens.js';
import { readSourceBlocks, sourceMarker } from './source-blocks.js';
import type { SourceBlock } from './source-blocks.js';
import { refuseUnknownFields } from '../servers/answer-fields.js';
import { foldApart, foldText, wordsOf } from '../../text/fold-text.js';
import { lightStem } from '../../text/light-stem.js';
import { readQuestion } from '../../text/question-terms.js';
import { readStatement } from '../../retrieval/verification/read-statement.js';
import { readAnswerType } from './answer-type.js';
import { readDemands } from './question-demands.js';
import { rankSentences } from './rank-sentences.js';
import type { Asked, RankedSentence } from './rank-sentences.js';

export const EXTRACTIVE_MODEL_NAME = 'builtin/extractive';

/**
 * A sentence that covers less of the question than this does not answer it; less will do where it holds something of
 * the kind that is asked for (a date, a sum, a name). `npm run bench:answers` says how often that is right; chosen on
 * its fitted half so that of 20 questions about ten foreign paragraphs 19 are refused.
 */
const MIN_COVERAGE = 0.4;
const MIN_COVERAGE_OF_FITTING = 0.33;
/** What is asked by yes or no is the whole of the question, not a part that its words leave open. */
const MIN_COVERAGE_OF_YES_NO = 0.5;
/** By another verb a sentence may tell the same, if it has about all the rest. */
const MIN_COVERAGE_WITHOUT_VERB = 0.75;
/** Further sentences are quoted when they are nearly as good as the best one. */
const NEARLY_AS_GOOD = 0.8;
const MAX_QUOTES = 3;
/** A table row or an endless sentence is quoted from its beginning. */
const MAX_QUOTE_LENGTH = 600;

const SENTENCES = {
  nothing: {
    en: 'I found nothing about this in the sources.',
    fr: "Je n'ai rien trouvé à ce sujet dans les sources.",
  },
  noSources: {
    en: 'This built-in model only quotes from documents. Ask it about a partition, or configure a language model for free conversation.',
    fr: 'Ce modèle intégré ne fait que citer des documents. Interrogez-le sur une partition, ou configurez un modèle de langue pour une conversation libre.',
  },
} as const;

function shorten(text: string): string {
  return text.length <= MAX_QUOTE_LENGTH
    ? text
    : `${text.slice(0, MAX_QUOTE_LENGTH).replace(/(?<!\s)\s+\S*$/, '')} …`;
}

/** Whether a sentence answers, and not only speaks of what is asked about. */
function answers(sentence: RankedSentence, isYesNo: boolean): boolean {
  const { coverage, fits, onTopic, agrees, meets } = sentence;
  if (!agrees || !meets) return false;
  if (!sentence.saysVerb && coverage < MIN_COVERAGE_WITHOUT_VERB) return false;
  if (fits === null) return coverage >= (isYesNo ? MIN_COVERAGE_OF_YES_NO : MIN_COVERAGE);
  return fits && onTopic && coverage >= MIN_COVERAGE_OF_FITTING;
}

function quotesFor(sources: readonly SourceBlock[], question: Asked): RankedSentence[] {
  const ranked = rankSentences(sources, question).filter((one) => answers(one, question.demands.isYesNo));
  const best = ranked[0]?.score ?? 0;
  return ranked.slice(0, MAX_QUOTES).filter(({ score }) => score >= best * NEARLY_AS_GOOD);
}

/** They name one of several, and what is said of another is no answer. */
const ORDINAL =
  /^(?:second|third|fourth|fifth|deuxieme|seconde?|troisieme|quatrieme|cinquieme|first|last|premiere?|derniere?)$/;

function readAsked(text: string): Asked {
  const { tokens } = readStatement(text);
  const names = tokens.flatMap(({ kind, keys }) => (kind === 'name' ? keys.flatMap(wordsOf) : []));
  const folded = foldApart(text);
  const type = readAnswerType(text);
  const numbers = wordsOf(foldText(text)).filter((word) => /^\d+$/.test(word) || ORDINAL.test(word));
  return {
    ...readQuestion(text),
    type,
    folded,
    names: new Set(names),
    numbers: numbers.map(lightStem),
    demands: readDemands(folded, type === null),
  };
}

function answerTo(messages: readonly ChatMessage[]): string {
  const question = readAsked(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const system = messages.find(({ role }) => role === 'system')?.content;
  const sources = system === undefined ? null : readSourceBlocks(system);
  if (sources === null) return SENTENCES.noSources[question.language];
  const quotes = quotesFor(sources, question);
  if (quotes.length === 0) return `${SENTENCES.nothing[question.language]}\n[Sources: none]`;
  const cited = [...new Set(quotes.map(({ source }) => source))].sort((a, b) => a - b);
  // A list marker belonged to the list that the sentence stood in.
  const lines = quotes.map(
    ({ text, source }) => `${shorten(text.replace(/^(?:[-*+•>]\s+)+/, ''))} ${sourceMarker(source)}`,
  );
  return `${lines.join('\n')}\n[Sources: ${cited.join(', ')}]`;
}

function cutAtStop(answer: string, stop: readonly string[]): string {
  return stop
    .filter((text) => text !== '')
    .reduce((rest, text) => (rest.includes(text) ? rest.slice(0, rest.indexOf(text)) : rest), answer);
}

async function* streamWords(
  messages: readonly ChatMessage[],
  { maxTokens = Infinity, stop = [], more, signal }: ChatOptions,
): AsyncGenerator<ChatDelta, void, undefined> {
  signal?.throwIfAborted();
  refuseUnknownFields(more, [], 'The built-in model');
  let completionTokens = 0;
  let finishReason: 'stop' | 'length' = 'stop';
  for (const word of cutAtStop(answerTo(messages), stop).match(/(?<!\s)\s*\S+/g) ?? []) {
    const tokens = countTokens(word);
    if (completionTokens + tokens > maxTokens) {
      finishReason = 'length';
      break;
    }
    completionTokens += tokens;
    yield { content: word };
    // Lets the reader take the word, and the signal arrive.
    await setImmediate();
    signal?.throwIfAborted();
  }
  const usage = { promptTokens: await countMessageTokens(messages, Infinity, signal), completionTokens };
  yield { content: '', finishReason, usage };
}

/**
 * The language model that needs no model server: it answers by quoting. From the `[Source N]` blocks of the first
 * system message it takes the one to three sentences that fit the last user message best, each with its source,
 * and ends with the citation line; when none fits it says so, in English or French as the question is. Without
 * sources it says what it is. Deterministic; the sampling options have no effect.
 */
export function createExtractiveModel(options: {
  endpointName: string;
  contextTokens: number;
}): LanguageModel {
  return {
    endpointName: options.endpointName,
    modelName: EXTRACTIVE_MODEL_NAME,
    contextTokens: options.contextTokens,
    stream: streamWords,
    async complete(messages, chat) {
      const reply: ChatReply = { content: '', finishReason: 'stop' };
      for await (const { content, ...end } of streamWords(messages, chat))
        Object.assign(reply, end, { content: reply.content + content });
      return reply;
    },
  };
}
