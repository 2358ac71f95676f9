import { foldText } from './fold-text.js';
import { isStopWord } from './stop-words.js';

/**
 * Function words of languages in Latin letters, accents kept; without those that name things in English or French, and
 * "per". German, which begins all nouns with a capital, is the first.
 */
const LANGUAGES = [
  'der das und ist nicht ein eine einen einem einer eines dem des du es an am in so me was sind wird werden wurde wurden ' +
    'kann darf dürfen muss müssen soll sollen sich mit für zum zur bei nach auf aus auch oder aber wenn dass kein keine ' +
    'keinen keiner dieses diese dieser diesen diesem im über durch nur noch sie er wir ich haben seine ihre vom beim ' +
    'als nie niemals sowie',
  'het een de en in is was te me we niet geen nooit ook wordt worden zijn voor naar maar moet kan deze aan uit bij nog ' +
    'als dat hij wij heeft hebben kunnen moeten mogen werd',
  'el los las la de que no en es son se un al a te me si tu y una está están puede pueden debe deben este esta estos ' +
    'estas su sus muy más pero también hasta desde cuando nunca fue sin como',
  'il gli la le un di da in si ma se a i al ne una della delle dello degli nel nella nei che è sono può deve devono ' +
    'essere viene anche più questo questa alla allo dal dalla sul sulla sua suo mai',
  'o a os as de do no na nos em se me te que um uma não é são dos das ao aos pode podem deve devem este esta também foi ' +
    'pelo pela seu sua nunca como',
  'och att det som är inte för på av med i en de till om ett från kan eller får ska skall ingen också har',
  'og det er ikke på af av med som i en et de for at fra kan skal må eller ingen også har blir bliver',
  'nie jest się że od dla są oraz przez po jak lub może być i do to a o ma na',
  'není že jsou být které nebo jako může od po a s v je se do na',
  'este și sunt în pentru din să poate sau nici nu la un o de a mai ce se al cu',
  've bir bu da de ne için ile değil olarak olan kadar gibi çok veya her en',
  'ja ei että tai ovat ole kun myös sekä joka voi on se me he ne',
  'az egy és nem hogy vagy csak ez a is',
  'yang ini itu untuk dengan tidak pada dari akan atau dapat adalah oleh di ke',
  'els amb és dels aquest aquesta però la les de i un una que no en se',
];

/** A letter that neither English nor French has. */
const FOREIGN = /(?![a-zàâæçéèêëîïôœùûÿªº])\p{Script=Latin}/iu;

/** Whether it is a function word of English or French. */
function isKnown(word: string): boolean {
  return !FOREIGN.test(word) && isStopWord(foldText(word));
}

/** All of a language's, and those that it has alone. */
const TABLE = LANGUAGES.map((list, index) => {
  const words = list.split(' ');
  return {
    all: new Set(words),
    own: new Set(words.filter((word) => !isKnown(word))),
    hasCapitalNouns: index === 0,
  };
});

/** No part of a code such as v3 or o1. */
const WORD = /(?<![\p{L}\p{M}\p{N}])\p{L}[\p{L}\p{M}]*(?![\p{L}\p{M}\p{N}])/gu;
/** "o'clock", "I've". */
const ELISION = /(?<!\p{L})o['’]|['’]ve(?!\p{L})/giu;
const LATIN = /\p{Script=Latin}/u;
const CAPITAL = /^\p{Lu}/u;
const MIN_EVIDENCE = 2;

/** Whether a word stands between two capitals, or before one at the start: "Banco do Brasil", "El Niño". */
function isInName(words: readonly string[], index: number): boolean {
  return [words[index - 1] ?? 'A', words[index + 1] ?? ''].every((word) => CAPITAL.test(word));
}

/**
 * Whether a text is clearly in another language than English and French. Either half of its words are in another
 * script; or it holds more function words of another language, and small words with foreign letters, than function
 * words of those two, and at least two, both function words where one of those two stands: one is enough beside a name
 * with foreign letters where none does. A capital within the text begins a name, so that "Los Angeles" is no Spanish,
 * nor is what stands within a name counted: in German, which has nouns there, "und" alone.
 */
export function isInOtherLanguage(text: string): boolean {
  const words = text.normalize('NFKC').replace(ELISION, ' ').match(WORD) ?? [];
  const latin = words.filter((word) => LATIN.test(word));
  const others = words.filter((word) => word.length > 1 && !LATIN.test(word));
  if (others.length > 0 && others.length >= latin.length) return true;
  const isNamed = latin.some((word) => CAPITAL.test(word) && FOREIGN.test(word));
  const known = latin.map((word) => word.toLowerCase()).filter(isKnown);
  return TABLE.some(({ all, own, hasCapitalNouns }) => {
    const isOwn = (word: string, index: number): boolean =>
      own.has(word) || (index === 0 && !CAPITAL.test(word.slice(1)) && own.has(word.toLowerCase()));
    const canBeInName = (word: string): boolean => !hasCapitalNouns || word === 'und';
    const functionWords = latin.filter(
      (word, index) => isOwn(word, index) && !(canBeInName(word) && isInName(latin, index)),
    ).length;
    const spelt = latin.filter(
      (word, index) => !isOwn(word, index) && !CAPITAL.test(word) && FOREIGN.test(word),
    ).length;
    const against = known.filter((word) => !all.has(word)).length;
    const evidence = functionWords + spelt;
    if (against > 0) return functionWords >= MIN_EVIDENCE && evidence > against;
    return evidence >= MIN_EVIDENCE || (functionWords > 0 && isNamed);
  });
}
