import { stemOf } from './date-words.js';

/** Folded words that deny what they stand beside. */
const NEGATIONS = new Set(
  'not never no none nor neither nobody nothing cannot non pas jamais aucun aucune ni nul nulle guere'
    .split(' ')
    .concat('hardly rarely seldom rarement lack lacks lacked lacking'.split(' '))
    .concat('depourvu depourvue depourvus depourvues'.split(' ')),
);
/** They deny at the start of a sentence alone: "Avoid mixing", but "close the valve to avoid damage". */
const NEGATIONS_AHEAD = new Set('avoid refrain evitez eviter'.split(' '));
/** Two words that deny what follows. */
const DENYING_PAIRS = new Set([
  ...'fail fails failed failing failure refuse refuses refused refusing decline declines declined'
    .split(' ')
    .map((word) => `${word} to`),
  ...['exempt', 'exempted', 'exemption'].map((word) => `${word} from`),
  ...['exempt', 'exempts', 'exempte', 'exemptes'].flatMap((word) =>
    ['de', 'd', 'du', 'des'].map((link) => `${word} ${link}`),
  ),
]);

/** Whether a folded word denies, by itself or with the one before it. */
export function isDenial(word: string, before: string, isStart: boolean): boolean {
  return (
    NEGATIONS.has(word) || (isStart && NEGATIONS_AHEAD.has(word)) || DENYING_PAIRS.has(`${before} ${word}`)
  );
}

/** They deny only behind `ne`: "il n'y a plus de place", but "plus de place". */
export const NEGATIONS_BEHIND_NE = new Set(['plus', 'personne', 'rien']);
/** They take away what follows them. */
const EXCEPTIONS = new Set('without except excluding unless sans sauf hormis hors excepte'.split(' '));
/** The last two of several words that do. */
const EXCEPTING_PAIRS = new Set(
  ['apart from', 'other than', 'exception of', 'exception d', 'exception de', 'exception des'].concat(
    'exception du',
  ),
);

/** @param before the folded word before this one */
export function isException(word: string, before: string): boolean {
  return EXCEPTIONS.has(word) || EXCEPTING_PAIRS.has(`${before} ${word}`);
}
/** They end a clause, as a comma does. */
export const CONJUNCTIONS = new Set(
  'and but while whereas although though et mais tandis contre cependant alors'.split(' '),
);
/** They name who acts in a sentence whose subject is acted upon. */
export const AGENT_MARKS = new Set(['by', 'par']);

/** Words that turn a sentence round when one stands for the other. */
const OPPOSITES = [
  ['before avant', 'after apres'],
  [
    'raise increase rise rose grow grew augmenter augmente hausse',
    'lower decrease reduce fall fell drop shrink diminuer diminue baisse reduire',
  ],
  ['maximum max', 'minimum min'],
  ['above over dessus', 'below under dessous'],
  ['more plus', 'less fewer moins'],
  ['first premier premiere', 'last dernier derniere'],
  [
    'allow allowed permit permitted authorised authorized admitted autorise autorisee permis permise admis admise',
    'forbid forbidden prohibit prohibited banned interdit interdite prohibe prohibee defendu',
  ],
  ['accept accepter accepte', 'reject refuse rejeter refuser rejete'],
  ['include inclure inclus', 'exclude exclure exclu'],
  ['open ouvert ouverte ouvrir', 'closed shut ferme fermee fermer'],
  [
    'mandatory compulsory required obligatoire',
    'optional voluntary facultatif facultative optionnel optionnelle',
  ],
  ['always toujours', 'never jamais'],
  ['earlier', 'later'],
  ['buy purchase acheter achete', 'sell sold vendre vendu vend'],
  ['import importer', 'export exporter'],
  ['win won gagner gagne', 'lose lost perdre perdu'],
  ['increased', 'decreased'],
  ['true vrai', 'false faux'],
  ['north nord', 'south sud'],
  ['east est', 'west ouest'],
  ['left gauche', 'right droite'],
  ['safe sur', 'dangerous dangereux'],
  ['enable activer', 'disable desactiver'],
  ['start begin begun commencer commence', 'end stop finish finir fini terminer'],
  ['public', 'private prive'],
  ['succeed reussir', 'fail echouer'],
] as const;

/** Left out, since they mean other things as well in one of the languages. */
const AMBIGUOUS = new Set(['est', 'sur', 'over', 'under', 'left', 'right', 'end', 'min', 'max']);

/** A pair of opposites by its number, and which side of it a word is on. */
export interface Opposite {
  pair: number;
  side: 0 | 1;
}

const BY_STEM: ReadonlyMap<string, Opposite> = new Map(
  OPPOSITES.flatMap((sides, pair) =>
    sides.flatMap((words, side) =>
      words
        .split(' ')
        .filter((word) => !AMBIGUOUS.has(word))
        .map((word): [string, Opposite] => [stemOf(word), { pair, side: side === 0 ? 0 : 1 }]),
    ),
  ),
);

/** @param word folded */
export function oppositeOf(word: string): Opposite | undefined {
  return BY_STEM.get(stemOf(word));
}

const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    2: 'two deux',
    3: 'three trois',
    4: 'four quatre',
    5: 'five cinq',
    6: 'six',
    7: 'seven sept',
    8: 'eight huit',
    9: 'nine neuf',
    10: 'ten dix',
    11: 'eleven onze',
    12: 'twelve douze dozen douzaine',
    13: 'thirteen treize',
    14: 'fourteen quatorze',
    15: 'fifteen quinze',
    16: 'sixteen seize',
    17: 'seventeen',
    18: 'eighteen',
    19: 'nineteen',
    20: 'twenty vingt',
    30: 'thirty trente',
    40: 'forty quarante',
    50: 'fifty cinquante',
    60: 'sixty soixante',
    70: 'seventy septante',
    80: 'eighty',
    90: 'ninety nonante',
    100: 'hundred cent',
    1000: 'thousand mille',
  }).flatMap(([value, words]) => words.split(' ').map((word): [string, string] => [word, value])),
);

/** The digits of a number word; `one` and `un` are articles and pronouns more often than numbers. */
export function numberOfWord(word: string): string | undefined {
  return NUMBER_WORDS.get(word);
}
