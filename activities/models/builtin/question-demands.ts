import { foldApart, wordsOf } from '../../text/fold-text.js';
import { lightStem } from '../../text/light-stem.js';
import { oppositeOf } from '../../retrieval/verification/polarity-words.js';
import type { Opposite } from '../../retrieval/verification/polarity-words.js';
import { contentStems } from '../../text/question-terms.js';
import { ROLES } from './holds-answer.js';

/** What a sentence must say, beyond a part of the question's words, to be an answer to it. */
export interface Demands {
  /** Groups of stems, of each of which the sentence has one: the quality, the office, the deed that is asked about. */
  said: readonly (readonly string[])[];
  /** Stems of a class that the question sets apart from others; they stand in the source. */
  things: readonly string[];
  /** What is done, bare of its ending; null where the question does not tell, or it says little. */
  verb: string | null;
  /** Asks for yes or no, which a sentence of half the words does not tell. */
  isYesNo: boolean;
  /** What happens by the question; of its contrary nothing follows for it. */
  opposites: readonly Opposite[];
  /** Asks which of several, or how much of it, goes farthest. */
  isSuperlative: boolean;
}

/** `How loud is ...?`: of those that no kind of answer is known for. */
const QUALITY = /\bhow (?!much|many|long|often|far|old|is|are|was|were)(\w{3,20}) (?:is|are|was|were)\b/;
/** `Who is the captain of ...?` */
const OFFICE =
  /\bwho (?:is|are|was|were) (?:the|its|his|her|their) (?:\w{1,20} )?(\w{3,20}) (?:of|at|in|for)\b|\bqui (?:est|etait|fut) (?:le|la|l) (\w{3,20}) (?:de|du|des|d)\b/;
/** `do lorries ...`: a plural without an article means the whole class; French gives it one. */
const CLASS = /\b(?:do|did|are|were) (\w{3,20}s) (?!the |a |an )\w/;
/** The verb of `What does the choir sing in May?`, `Where are keys kept?` */
const ACTIVE =
  /^(?:and )?(?:what|where) (?:do|does|did) .{1,60}? (\w{3,20})(?: (?:in|at|on|for|with|from|to|of|by|after|before|during|when|if) .{1,80})? ?\?/;
const PASSIVE =
  /^(?:and )?(?:what|where) (?:is|are|was|were) .{1,60}? (\w{2,20}ed|built|made|held|sold|kept|taken|given|paid|sent|lost|drawn|grown|spoken|taught|caught|bought|brought|known)(?: (?:in|at|on|for|with|from|to|of|by|as|after|before|during|when|if)\b.{0,80})? ?\?/;
const LIGHT_VERB =
  /^(?:do|done|have|happen|mean|look|need|cost|think|say|stand|lie|live|located|called|named|based|found)$/;
const SUPERLATIVE =
  /\b(?:the most|the least|best|worst|(?:bigg|larg|small|high|tall|long|short|old|young|fast|slow|strong|weak|heavi|deep|cheap|great|few|wid|near|hott|cold)est|(?:le|la|les) (?:plus|moins|meilleure?s?|pires?))\b/;
/** They tell of it as well. */
const FARTHEST =
  /\b(?:most|least|main|mostly|record|top|first|only|leading|maximum|minimum|\w{3,20}est|principal\w{0,6}|premiere?|seule?|surtout)\b/;
const YES_NO =
  /^(?:is|are|was|were|do|does|did|can|could|may|must|should|has|have|had|will|would)\b|^est ce qu|^(?!.*\b(?:qui|que|qu|quoi|quel\w{0,4}|ou|quand|comment|combien|pourquoi)\b).*\b(?:est|sont|a|ont|etait|etaient|peut|peuvent|doit|doivent|faut|va|vont|t) (?:il|elle|ils|elles|on|ce)\b/;
const BY_WHOM_OR_WHEN = /\b(?:who|whom|when|where|why|which year|qui|quand|ou|pourquoi|quelle annee)\b/;

/**
 * Deeds that one and the same subject undergoes one after another, by different hands: that something was replaced in
 * 1898 does not tell who designed it, nor when it was built. Before the bar the verb, behind it what else tells of it.
 */
const DEEDS = [
  'design designs designed concu concue concevoir dessine dessinee | designer architect plan drew drawn plans architecte',
  'build builds built construct constructed erected construit construite bati batie erige erigee | builder construction work rose',
  'found founded establish established fonde fondee | founder foundation create created creation start began set cree creee fondateur fondation',
  'owns owned possede possedent | own owner belong belongs property bought buy sold proprietaire appartient achete vendu',
  'finance financed fund funded sponsor sponsored finance financee | pay paid pays money grant foundation cost paye donne subvention budget',
  'write writes wrote written ecrit ecrite redige redigee | author writer book publish published auteur ecrivain livre publie',
  'marry married epouse epousa | wife husband widow wedding marriage femme mari epoux mariage veuve',
  'invent invented invente inventee | inventor invention patent develop developed inventeur brevet concu cree',
  'discover discovered decouvert decouverte | discovery found find noticed trouve decouvreur',
  'repair repairs repaired restore restored renovate renovated repare reparee restaure restauree | repair restoration renovation mended fix fixed reparation restauration travaux',
  'closes closed fermee | close closure ferme shut end ceased fermeture',
  'demolish demolished destroy destroyed demoli demolie detruit detruite | demolition torn fire burnt razed incendie brule rase',
  'win wins won gagne gagnee remporte remportee | winner victory beat champion vainqueur victoire vaincu',
  'die died mort morte decede decedee | death dead killed deces tue',
  'born | birth birthday',
  'release releases released publish published launch launched paru parue publie publiee lance lancee | available appear appears appeared out issued edition sortie sorti disponible',
].map((deed) => {
  const [verbs = [], more = []] = deed.split(' | ').map((words) => words.split(' '));
  return { verbs: new Set(verbs), told: [...new Set([...verbs, ...more].map(lightStem))] };
});

/** None of several: `Who closed the mine that was found by ...?` does not tell by its words which of them is meant. */
function deedIn(question: string): readonly string[] {
  if (!BY_WHOM_OR_WHEN.test(question)) return [];
  const words = wordsOf(question);
  const asked = DEEDS.filter(({ verbs }) => words.some((word) => verbs.has(word)));
  return asked.length === 1 ? (asked[0]?.told ?? []) : [];
}

/** The forms of a regular verb have it in common: `use`, `used`, `using`. */
function bareVerb(word: string): string {
  return word.replace(/(?:ed|es|ing|e|s|d)$/, '');
}

const IRREGULAR: ReadonlyMap<string, string> = new Map(
  (
    'sang sing|sung sing|ate eat|held hold|gave give|given give|got get|paid pay|bought buy|sold sell|wore wear|' +
    'wrote write|written write|lost lose|won win|made make|took take|taken take|knew know|known know|saw see|' +
    'grew grow|grown grow|built build|kept keep|sent send|taught teach|caught catch|brought bring|drew draw|' +
    'drawn draw|spoke speak|spoken speak|left leave|met meet|led lead|fed feed|drank drink|chose choose|said say'
  )
    .split('|')
    .map((pair): [string, string] => {
      const [form = '', verb = ''] = pair.split(' ');
      return [form, bareVerb(verb)];
    }),
);

function verbOf(word: string): string {
  return IRREGULAR.get(word) ?? bareVerb(word);
}

function verbIn(question: string): string | null {
  const verb = (ACTIVE.exec(question) ?? PASSIVE.exec(question))?.[1];
  return verb === undefined || LIGHT_VERB.test(verb) ? null : verbOf(verb);
}

/** Whether a sentence has the verb of the question, where that is known. */
export function saysVerb({ verb }: Demands, sentence: string): boolean {
  return verb === null || wordsOf(foldApart(sentence)).some((word) => verbOf(word) === verb);
}

/** Those that happen; a degree or a direction may stand in an answer beside its contrary. */
const OPPOSED = new Set(
  ['start', 'open', 'buy', 'win', 'import', 'accept', 'include', 'succeed'].map(
    (word) => oppositeOf(word)?.pair,
  ),
);

function oppositesIn(folded: string): Opposite[] {
  return wordsOf(folded).flatMap((word) => {
    const opposite = oppositeOf(word);
    return opposite !== undefined && OPPOSED.has(opposite.pair) ? [opposite] : [];
  });
}

/**
 * @param question by `foldApart`
 * @param isOpen no kind of answer is known to be asked for
 */
export function readDemands(question: string, isOpen: boolean): Demands {
  const quality = isOpen ? QUALITY.exec(question)?.[1] : undefined;
  const office = OFFICE.exec(question)
    ?.slice(1)
    .find((word) => word !== undefined && ROLES.has(word));
  const isYesNo = YES_NO.test(question);
  return {
    said: [contentStems(quality ?? ''), contentStems(office ?? ''), deedIn(question)].filter(
      (group) => group.length > 0,
    ),
    things: contentStems(CLASS.exec(question)?.[1] ?? ''),
    verb: verbIn(question),
    isYesNo,
    opposites: isYesNo ? [] : oppositesIn(question),
    isSuperlative: !isOpen && SUPERLATIVE.test(question),
  };
}

/** Whether a sentence tells of the farthest of several, where that is asked for, and not of the contrary alone. */
export function agreesInDegree({ isSuperlative, opposites }: Demands, sentence: string): boolean {
  if (!isSuperlative && opposites.length === 0) return true;
  const told = foldApart(sentence);
  const others = oppositesIn(told);
  return (
    (!isSuperlative || SUPERLATIVE.test(told) || FARTHEST.test(told)) &&
    opposites.every(({ pair, side }) => {
      const same = others.filter((other) => other.pair === pair);
      return same.length === 0 || same.some((other) => other.side === side);
    })
  );
}
