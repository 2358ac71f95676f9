import { foldApart, foldText, wordsOf } from '../../text/fold-text.js';
import { lightStem } from '../../text/light-stem.js';
import { readStatement } from '../../retrieval/verification/read-statement.js';
import type { Token } from '../../retrieval/verification/read-statement.js';
import type { AnswerType } from './answer-type.js';

const PEOPLE = stems(
  'people person place seat siege inhabitant resident men women personne habitant gens homme femme employe ame',
);
const TIME_UNITS = stems(
  'second minute hour day week month year century decade seconde heure jour semaine mois an annee siecle decennie',
);
const LENGTH_UNITS = stems(
  'metre meter m km cm mm kilometre kilometer centimetre millimetre foot feet mile yard inch pied lieue pouce',
);
const AREA_UNITS = stems('hectare acre ha square carre km2 m2 km kilometre metre');
const WEIGHT_UNITS = stems('kilo kilogram kilogramme kg gram gramme g ton tonne pound livre quintal');
const SIZE_UNITS = new Set([
  ...LENGTH_UNITS,
  ...AREA_UNITS,
  ...WEIGHT_UNITS,
  ...stems('litre l gb mb tb month mois % percent'),
]);
/** Of one that is asked for, a sentence that names another says nothing. */
const DIMENSIONS = [
  'height hauteur high haut tall altitude',
  'depth profondeur deep profond',
  'length longueur long',
  'width largeur wide large',
  'thickness epaisseur thick epais',
].map((words) => new Set(words.split(' ')));
const MONEY =
  /[€$£]|\b(?:euros?|dollars?|pounds?|cents?|centimes?|francs?|crowns?|couronnes?|livres?|shillings?|gratuite?|free|demi tarif|yens?|millions?|milliards?|billions?)\b/;
const MONTHS =
  'january february march april june july august september october november december janvier fevrier mars avril mai juin ' +
  'juillet aout septembre octobre novembre decembre';
const DAYS =
  'monday tuesday wednesday thursday friday saturday sunday lundi mardi mercredi jeudi vendredi samedi dimanche easter ' +
  'christmas paques noel';
/** Without May, which by itself is no month as a rule. */
const CALENDAR = new Set(`${MONTHS} ${DAYS}`.split(' ').flatMap((word) => [word, `${word}s`]));
const YEAR =
  /\b(?:1\d|20)\d\d\b|\b(?:century|siecle)\b|\b\d{1,4} (?:av|bc|ad)\b|\b(?:en|vers|in|about|around) \d{3}\b/;
const CLOCK =
  /\b\d{1,2} ?(?:h|am|pm)\b|\b\d{1,2}:\d\d\b|\b(?:morning|evening|noon|midnight|matin|soir|midi|minuit|o clock|heures)\b/;
const PLACE =
  /\b(?:in|at|on|under|near|to|from|into|behind|above|below|beside|inside|outside|dans|a|au|aux|sur|sous|en|chez|vers|pres|place|rue|street|entre|between)\b/;
const MOMENT =
  /\b(?:1\d|20)\d\d\b|\b\d{1,2} ?(?:h|am|pm)\b|\b\d{1,2}:\d\d\b|\b(?:century|siecle|morning|evening|noon|midnight|matin|soir|midi|minuit|o clock|when|once|unless|until|after|before|during|lorsqu\w?|quand|apres|avant|pendant|jusqu|depuis|since|always|never|annees|heures)\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?may\b|\bmay \d|\b\d{1,3} av\b|\b(?:en|vers|in|about|around) \d{3}\b/;
const OFTEN =
  /\b(?:every|each|once|twice|times|daily|weekly|monthly|yearly|annually|per|chaque|fois|tous les|toutes les|par (?:an|mois|jour|semaine)|quotidien\w{0,6}|annuel\w{0,6})\b/;
const REASON =
  /\b(?:because|since|so that|due|owing|thanks|caused?|therefore|in order|as a result|to \w{3,20}|parce|car|afin|pour|grace|raison|cause|puisqu\w?|suite|permet\w{0,6}|faute)\b/;
const ROLES = withPlurals(
  'lead leader manager officer director president minister engineer architect king queen emperor researcher scientist ' +
    'police company firm council committee government owner landlord operator supervisor technician doctor teacher ' +
    'student staff member team author painter conductor bishop pope soldier farmer worker union parliament army ' +
    'chef directeur directrice presidente ministre ingenieur architecte roi reine empereur chercheur scientifique ' +
    'entreprise societe conseil comite gouvernement proprietaire bailleur technicien medecin professeur eleve etudiant ' +
    'membre equipe auteur peintre eveque pape soldat paysan ouvrier syndicat parlement armee responsable duc comte prince',
);

function withPlurals(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').flatMap((word) => [word, `${word}s`]));
}

/** Those of the plurals too: short words have no stem of their own. */
function stems(words: string): ReadonlySet<string> {
  return new Set([...withPlurals(words)].map(lightStem));
}

function namesOther(asked: ReadonlySet<string>, words: readonly string[]): boolean {
  const own = DIMENSIONS.find((dimension) => [...dimension].some((word) => asked.has(lightStem(word))));
  if (own === undefined || words.some((word) => own.has(word))) return false;
  return words.some((word) => DIMENSIONS.some((dimension) => dimension.has(word)));
}

/** A number, and what is counted one or two words behind it. */
function isCounted(tokens: readonly Token[], units: ReadonlySet<string>): boolean {
  return tokens.some(
    (token, at) =>
      token.kind === 'number' &&
      ((token.unit !== null && units.has(token.unit)) ||
        tokens.slice(at + 1, at + 3).some(({ keys }) => keys.some((key) => units.has(key)))),
  );
}

function isClock({ keys, unit }: Token): boolean {
  return /^(?:1\d|20)\d\d$/.test(keys[0] ?? '') && unit === null;
}

/** A name behind a word of place, or one that says whose something is, is no person by itself. */
const BEHIND_PLACE =
  /(?:\b(?:in|at|near|au|aux|en|from|to|of|dans|de|du)|(?:^|\s)à|\bd['’])\s{0,3}(?:(?:the|la|le)\s{1,3}|l['’])?$/i;

function hasNewName(
  sentence: string,
  tokens: readonly Token[],
  known: ReadonlySet<string>,
  people: boolean,
): boolean {
  const names = tokens.filter(
    ({ kind, keys }) => kind === 'name' && !keys.some((key) => known.has(key) || CALENDAR.has(key)),
  );
  if (!people) return names.length > 0;
  const words = [...sentence.matchAll(/\p{Lu}[\p{L}\p{M}'’-]{0,40}/gu)];
  return names.some(({ keys }) =>
    words.some(
      ({ 0: word, index }) =>
        wordsOf(foldText(word)).some((part) => keys.includes(lightStem(part))) &&
        !BEHIND_PLACE.test(sentence.slice(Math.max(0, index - 16), index)),
    ),
  );
}

/**
 * Whether a sentence holds something of the kind that a question asks for.
 * @param known stems of the question, which is not answered by its own words
 */
// eslint-disable-next-line complexity -- the kinds, one after another
export function holdsAnswer(asked: AnswerType, sentence: string, known: ReadonlySet<string>): boolean {
  const { kind, counted } = asked;
  const { tokens } = readStatement(sentence);
  const folded = foldApart(sentence);
  const words = wordsOf(folded);
  const numbers = tokens.filter((token) => token.kind === 'number');
  const counts = (units: ReadonlySet<string>): boolean =>
    numbers.some(({ unit }) => unit !== null && units.has(unit));
  switch (kind) {
    case 'count':
      return isCounted(tokens, counted !== null && PEOPLE.has(counted) ? PEOPLE : new Set([counted ?? '']));
    case 'money':
      return MONEY.test(folded) && (numbers.length > 0 || /gratuit|free|tarif/.test(folded));
    case 'length':
      return counts(LENGTH_UNITS) && !namesOther(asked.asking, words);
    case 'area':
      return counts(AREA_UNITS);
    case 'weight':
      return counts(WEIGHT_UNITS);
    case 'size':
      return counts(SIZE_UNITS);
    case 'duration':
    case 'age':
      return counts(TIME_UNITS);
    case 'frequency':
      return OFTEN.test(folded);
    case 'amount':
      return (
        numbers.some((number) => !isClock(number)) &&
        (counted === null || words.some((word) => lightStem(word) === counted))
      );
    case 'clock':
      return CLOCK.test(folded);
    case 'year':
      return YEAR.test(folded);
    case 'time':
      return MOMENT.test(folded) || words.some((word) => CALENDAR.has(word)) || counts(TIME_UNITS);
    case 'place':
      return PLACE.test(folded);
    case 'person':
      return (
        hasNewName(sentence, tokens, known, true) ||
        words.some((word) => ROLES.has(word) && !known.has(lightStem(word)))
      );
    case 'reason':
      return REASON.test(folded);
    case 'name':
      return hasNewName(sentence, tokens, known, false);
  }
}
