import { foldApart, foldText, wordsOf } from '../../text/fold-text.js';
import { lightStem } from '../../text/light-stem.js';
import { isYearDigits } from '../../retrieval/verification/read-number.js';
import { readStatement } from '../../retrieval/verification/read-statement.js';
import type { Token } from '../../retrieval/verification/statement.js';
import type { AnswerType, Kind } from './answer-type.js';

const PEOPLE = stems(
  'people person place seat siege inhabitant resident men women personne habitant gens homme femme employe ame',
);
const TIME_UNITS = stems(
  'second minute hour day week month year century decade seconde heure jour semaine mois an annee siecle decennie',
);
const LENGTH_UNITS = stems(
  'metre meter m km cm mm kilometre kilometer centimetre millimetre foot feet mile yard inch pied lieue pouce',
);
/** What is high, thick or wide is told in them. */
const SHORT_UNITS = stems('metre meter m cm mm centimetre millimetre foot feet yard inch pied pouce');
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
  /[€$£]|\b(?:euros?|dollars?|pounds?|cents?|centimes?|francs?|crowns?|couronnes?|livres?|shillings?|gratuite?|free|demi tarif|yens?|guilders?|florins?|gulden|ducats?|thalers?|roubles?|rupees?|pesos?|kron[ae]r?|millions?|milliards?|billions?)\b/;
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
/** "In May", "at the end of August", "from 9:00": the words of a place stand before a time as well. */
const TIME_PHRASE = new RegExp(
  String.raw`\b(?:in|at|on|to|from|by|en|a|au|de|dans|vers) (?:the |la |le |l )?` +
    String.raw`(?:early |late |mid |end of |beginning of |start of |fin |debut |milieu )?(?:the |du |de |d )?` +
    String.raw`(?:\d\S{0,9}|spring|summer|autumn|winter|morning|evening|afternoon|night|time|least|last|first|` +
    String.raw`may|weeks?|months?|years?|days?|printemps|hiver|automne|matin|soir|` +
    String.raw`${[...CALENDAR].join('|')})\b`,
  'g',
);
/** Told from the article `a` by its accent alone. */
const FRENCH_PLACE = /(?:^|\s)à\s(?!\d|la fin|partir|cause)/i;
const PLACE =
  /\b(?:in|at|on|under|near|to|from|into|behind|above|below|beside|inside|outside|dans|au|aux|sur|sous|en|chez|vers|pres|place|rue|street|entre|between)\b/;
const MOMENT =
  /\b(?:spring|summer|autumn|winter|weekend|tomorrow|today|tonight|printemps|automne|hiver|demain|week end)\b|\b(?:end|beginning|start|fin|debut) (?:of|de|du)\b|\b(?:1\d|20)\d\d\b|\b\d{1,2} ?(?:h|am|pm)\b|\b\d{1,2}:\d\d\b|\b(?:century|siecle|morning|evening|noon|midnight|matin|soir|midi|minuit|o clock|if|unless|always|never|annees|heures)\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?may\b|\bmay \d|\b\d{1,3} av\b|\b(?:en|vers|in|about|around) \d{3}\b|\bin (?:case|strong|bad|heavy|wet|dry|cold|hot) \w|\b(?:by|on) the (?:first|second|third|fourth|fifth|tenth|last|\d{1,2}(?:st|nd|rd|th))\b/;
/** They tell when by something else that happens, which must not be the thing that is asked about. */
const MOMENT_OF =
  /\b(?:when|once|until|after|before|during|since|lorsqu\w?|quand|apres|avant|pendant|jusqu|depuis) ?(?:an?|the|une?|le|la|les|l|il|elle|it|he|she|they)? (\w{1,30})/g;
/** Of software a version is a time, unless its own time is asked for. */
const VERSION = /\b(?:in|with|from|en|avec|des|dans) (?:the |la )?(?:next )?(?:version|release)\b/;
const OFTEN =
  /\b(?:every|each|once|twice|times|daily|weekly|monthly|yearly|annually|per|chaque|fois|tous les|toutes les|par (?:an|mois|jour|semaine)|quotidien\w{0,6}|annuel\w{0,6})\b/;
/** "To protect" tells a purpose; "up to three", "has to pay" and "to the sea" do not, and "since 2012" tells a time. */
const REASON =
  /\b(?:because|since (?!\d)|so that|due|owing|thanks|caused?|therefore|in order|as a result|parce|car|afin|pour|grace|raison|cause|puisqu\w?|suite|permet\w{0,6}|faute)\b|, (?:as|so) (?!well|far|long)|(?<!\b(?:up|has|have|had|needs?|wants?|able|next|according|back|close|is|are)) to (?!the |his |her |its |their |this |that |our |your |one |two |three |four |five |six |seven |eight |nine |ten )\w{3,20}\b/;
/** What made something happen may stand in a clause of time, too. */
const CAUSE =
  /\b(?:(?:when|after) (?:an?|the|he|she|it|they|some|one|two)|makes?|made|leads?|led|triggered|provoked|quand|lorsqu\w?|provoqu\w{1,5}|entrain\w{1,5})\b/;
const MANNER =
  /\b(?:when|after|quand|lorsqu\w?|by|with|via|through|using|in|on|from|into|under|press|click|choose|select|open|enter|type|tap|must|par|avec|en|dans|sur|grace|moyen|appuyez|cliquez|choisissez)\b/;
const SPEED =
  /\b(?:per|an|a|par|l) (?:second|minute|hour|heure|seconde)\b|\b(?:mph|kph|knots?|noeuds?|mbit|gbit)\b|\bkm\/h|\bm\/s|\b(?:as|times|twice|half|fois) (?:as |plus )?(?:fast|quick|vite|rapide)/;
const TEMPERATURE = /°|\b(?:degrees?|degres?|celsius|fahrenheit|kelvin)\b/;
/** A length in each year is a speed. */
const RATE =
  /\b(?:per|a|an|par|each|every|chaque) (?:second|minute|hour|day|week|month|year|seconde|heure|jour|semaine|mois|an)\b/;
/** Spans that no number tells. */
const SPAN =
  /\b(?:until|till|jusqu|throughout|all (?:day|night|year)|an hour|half an? \w{3,8}|(?:one|une) (?:demi )?(?:second|minute|hour|day|week|month|year|seconde|heure|journee|semaine|annee)|un (?:jour|mois|an))\b/;
/** "Two years later" tells when, not how long. */
const LATER = /\S{1,20} \S{1,20} (?:later|ago|earlier|old|plus tard|plus tot|auparavant)\b/gi;
/** Offices and bodies: who they are may stand for a name. */
export const ROLES = withPlurals(
  'person office foundation association university society department ministry bank hospital club dealer volunteer ' +
    'neighbour parent fondation bureau universite ministere banque hopital commune personne voisin benevole ' +
    'tenant porter sexton head cook driver nurse guard keeper caretaker miller smith locataire concierge gardien ' +
    'captain mayor treasurer secretary chairman librarian editor coach trainer capitaine maire tresorier secretaire ' +
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

/** A number that is a year and no amount. */
function isBareYear({ keys, unit }: Token): boolean {
  return isYearDigits(keys[0] ?? '') && unit === null;
}

/** A name behind a word of place, or one that says whose something is, is no person by itself. */
const BEHIND_PLACE =
  /(?:\b(?:in|at|on|under|above|over|near|au|aux|en|from|to|of|dans|de|du|sur|sous)|(?:^|\s)à|\bd['’])\s{0,3}(?:(?:the|la|le)\s{1,3}|l['’])?$/i;

/** `The Corran ferry`, `the Baird yard`: the name of a thing. */
const ATTRIBUTE =
  /\b(?:[Tt]he|[Aa]n?) (?:\p{Lu}[\p{L}\p{M}'’-]{0,40} ){1,4}(?=\p{Ll}{3})(?!family|brothers|sisters)/gu;

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
  const told = sentence.replace(ATTRIBUTE, '');
  const words = [...told.matchAll(/\p{Lu}[\p{L}\p{M}'’-]{0,40}/gu)];
  return names.some(({ keys }) =>
    words.some(
      ({ 0: word, index }) =>
        wordsOf(foldText(word)).some((part) => keys.includes(lightStem(part))) &&
        !BEHIND_PLACE.test(told.slice(Math.max(0, index - 16), index)),
    ),
  );
}

/** Who does what is done. */
const BY_SOMEBODY =
  /\b\w{2,20}(?:ed|en|ee?s?|ts?|pt|lt) by (?:the|an?|any|each|every|its|our|one) (?!\w{2,20}ing\b)/;

/** What is looked at in a sentence, read once for all kinds. */
interface Told {
  sentence: string;
  folded: string;
  words: readonly string[];
  tokens: readonly Token[];
  numbers: readonly Token[];
}

function counts({ numbers }: Told, units: ReadonlySet<string>): boolean {
  return numbers.some(({ unit }) => unit !== null && units.has(unit));
}

function isThick(asking: ReadonlySet<string>): boolean {
  return ['high', 'tall', 'thick', 'hauteur', 'height', 'epaisseur'].some((word) =>
    asking.has(lightStem(word)),
  );
}

function isLength(asked: AnswerType, told: Told): boolean {
  const ofWay = asked.asking.has('far') || asked.asking.has('distanc');
  return (
    counts(told, isThick(asked.asking) ? SHORT_UNITS : LENGTH_UNITS) &&
    !namesOther(asked.asking, told.words) &&
    (ofWay || !RATE.test(told.folded))
  );
}

function isTime({ sentence, folded }: Told): boolean {
  if (SPAN.test(folded)) return true;
  const { tokens } = readStatement(sentence.replace(LATER, ''));
  return tokens.some(({ kind, unit }) => kind === 'number' && unit !== null && TIME_UNITS.has(unit));
}

/** `Windows 8`, `bus number 7`: a number behind it makes a name of the word at a beginning, or of what is asked for. */
function isNumbered({ tokens }: Told, counted: string | null): boolean {
  return tokens.some(
    (token, at) =>
      token.kind === 'number' &&
      token.unit === null &&
      (at === 1 || tokens.slice(Math.max(0, at - 2), at).some(({ keys }) => keys.includes(counted ?? ''))),
  );
}

const HOLDS: Readonly<Record<Kind, (asked: AnswerType, told: Told, known: ReadonlySet<string>) => boolean>> =
  {
    count: ({ counted }, { tokens }) =>
      isCounted(tokens, counted !== null && PEOPLE.has(counted) ? PEOPLE : new Set([counted ?? ''])),
    money: (_, { folded, numbers }) =>
      MONEY.test(folded) && (numbers.length > 0 || /gratuit|free|tarif/.test(folded)),
    length: isLength,
    extent: (asked, told) => isLength(asked, told) || isTime(told),
    area: (_, told) => counts(told, AREA_UNITS),
    weight: (_, told) => counts(told, WEIGHT_UNITS),
    speed: (_, { folded }) => SPEED.test(folded),
    temperature: (_, { folded }) => TEMPERATURE.test(folded),
    size: (_, told) => counts(told, SIZE_UNITS),
    duration: (_, told) => isTime(told),
    age: (_, told) => counts(told, TIME_UNITS),
    frequency: (_, { folded }) => OFTEN.test(folded),
    amount: ({ counted }, { numbers, words }) =>
      numbers.some((number) => !isBareYear(number)) &&
      (counted === null || words.some((word) => lightStem(word) === counted)),
    clock: (_, { folded }) => CLOCK.test(folded),
    year: (_, { folded }) => YEAR.test(folded),
    time: (_, told, known) =>
      MOMENT.test(told.folded) ||
      [...told.folded.matchAll(MOMENT_OF)].some(({ 1: word = '' }) => !known.has(lightStem(word))) ||
      told.words.some((word) => CALENDAR.has(word)) ||
      counts(told, TIME_UNITS) ||
      (VERSION.test(told.folded) && !known.has(lightStem('version'))),
    place: (_, { sentence, folded }) =>
      PLACE.test(folded.replace(TIME_PHRASE, '')) || FRENCH_PLACE.test(sentence),
    person: (_, { sentence, folded, tokens, words }, known) =>
      BY_SOMEBODY.test(folded) ||
      hasNewName(sentence, tokens, known, true) ||
      words.some((word) => ROLES.has(word) && !known.has(lightStem(word))),
    reason: (_, { folded }) => REASON.test(folded),
    cause: (_, { folded }) => REASON.test(folded) || CAUSE.test(folded),
    manner: (_, { folded }) => MANNER.test(folded),
    name: ({ counted }, told, known) =>
      hasNewName(told.sentence, told.tokens, known, false) || isNumbered(told, counted),
  };

/**
 * Whether a sentence holds something of the kind that a question asks for.
 * @param known stems of the question, which is not answered by its own words
 */
export function holdsAnswer(asked: AnswerType, sentence: string, known: ReadonlySet<string>): boolean {
  const { tokens } = readStatement(sentence);
  const folded = foldApart(sentence);
  const numbers = tokens.filter(({ kind }) => kind === 'number');
  return HOLDS[asked.kind](asked, { sentence, folded, words: wordsOf(folded), tokens, numbers }, known);
}
