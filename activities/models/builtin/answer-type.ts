import { foldApart, wordsOf } from '../../text/fold-text.js';
import { lightStem } from '../../text/light-stem.js';

export type Kind =
  | 'count'
  | 'money'
  | 'size'
  | 'duration'
  | 'extent'
  | 'age'
  | 'frequency'
  | 'amount'
  | 'time'
  | 'year'
  | 'clock'
  | 'place'
  | 'length'
  | 'area'
  | 'weight'
  | 'speed'
  | 'temperature'
  | 'person'
  | 'reason'
  | 'cause'
  | 'manner'
  | 'name';

/** What a question wants to be told, by the word that it asks with. */
export interface AnswerType {
  kind: Kind;
  /** Stem of what is to be counted. */
  counted: string | null;
  /** Stems that say what kind of thing is asked for and need not stand in the answer. */
  asking: ReadonlySet<string>;
}

/** The first that fits says what is asked for; over folded text. A group is the thing that is counted or named. */
const ASKED: readonly [Kind, RegExp][] = [
  ['frequency', /\bhow (?:often|many times)\b|\bcombien de fois\b|\bfrequence\b/],
  ['age', /\bhow old\b|\bquel age\b|\ba partir de quel age\b/],
  [
    'money',
    /\bhow much (?:is|are|was|were)\b|\bhow much (?:do|does|did|will)\b.{0,60}\b(?:cost|rent|pay|paid|price|fee)\b|\bwhat (?:did|do|does|will) .{0,60}\bcost\b|\b(?:what|which) (?:price|fee|fine|fare|salary|wage|toll|sum)\b|\b(?:what|how (?:high|large|big)) (?:is|are|was|were) (?:the|a|an) (?:\w{1,20} )?(?:price|fee|fine|fare|salary|wage|costs?)\b|\bcombien (?:coute|coutera|coutent|a coute|vaut|valent|paie|paient)\b|\bquel(?:le)? (?:est|etait) (?:le prix|le tarif|le montant|le supplement|le salaire|le cout|l amende)\b/,
  ],
  // "How long is ...?" asks for a length or for a time; with other verbs, for a time.
  [
    'extent',
    /(?<!for )\bhow long (?:is|are|was|were)\b|(?<!for )\bhow long (?:must|should|may|can|will) .{0,60} be ?\?/,
  ],
  [
    'duration',
    /\bhow long\b|\bwhat (?:is|was|are|were) (?:the|its) (?:\w{1,20} )?(?:period|duration|term|deadline|lifetime|lifespan)\b|\bwithin (?:what time|how many)\b|\b(?:combien de temps|quelle duree|quel delai|pendant combien)\b/,
  ],
  ['count', /\bhow many (\w{1,30})\b|\bcombien (?:d |de |d')(\w{1,30})\b/],
  [
    'length',
    /\bhow (?:deep|tall|wide|far|thick)\b|\bhow high (?:is|was|are|may|can|does) (?!the (?:deposit|fine|fee|price|rent))|\bwhat (?:is|was|are|were) (?:the|its) (?:\w{1,20} )?(?:altitude|depth|diameter|distance|height|length|range|span|thickness|width|wingspan)\b|\b(?:quelle (?:est|etait) (?:la|l)|a quelle) (?:altitude|envergure|epaisseur|hauteur|longueur|largeur|profondeur|distance|portee)\b|\bquel (?:est|etait) le diametre\b/,
  ],
  ['area', /\bquelle (?:est|etait) la superficie\b|\bwhat (?:is|was) the area\b/],
  [
    'weight',
    /\bhow heavy\b|\bwhat (?:is|was) (?:the|its) (?:\w{1,20} )?weight\b|\bhow much (?:do|does|did) .{0,40}\bweigh\b|\bcombien (?:pese|pesent|pesait)\b|\bquel (?:est|etait) le poids\b/,
  ],
  [
    'speed',
    /\bhow fast\b|\b(?:what|quelle (?:est|etait) la) (?:top |maximum )?(?:speed|vitesse)\b|\ba quelle vitesse\b/,
  ],
  [
    'temperature',
    /\bhow (?:hot|cold|warm)\b|\b(?:what|which|quelle) (?:is the |was the |est la |etait la )?temperature\b/,
  ],
  ['size', /\bhow (?:high|large|big)\b|\bquelle (?:est|etait) la taille\b|\bcombien (?:mesure|mesurent)\b/],
  [
    'amount',
    /\bhow much (?!is |are |was |were |do |does |did |will )(\w{1,30})\b|\bhow much\b|\bcombien\b|\b(?:what|quel) (?:percentage|share|pourcentage)\b|\bwhat (?:is|was) the (?:\w{1,20} )?number\b(?! of)|\bquel (?:est|etait) le numero\b/,
  ],
  ['clock', /\b(?:what time|quelle heure)\b/],
  ['year', /\b(?:what|which) (?:year|century)\b|\bquel(?:le)? (?:annee|siecle)\b/],
  [
    'time',
    /^(?:and |but |since |until |by )?when (?:is|are|was|were|will|do|does|did|can|may|must|should|has|have|had|would)\b|\bby when\b|\b(?:what|which) (?:date|day|month)\b|^(?:depuis |et |jusqu a )?quand\b|\bquand \?|\bquel(?:le)? (?:date|jour|mois|epoque)\b/,
  ],
  ['place', /^(?:and |from )?where\b|(?:^|\bd )ou\b(?! bien)/],
  ['person', /\b(?:who|whom|whose)\b|^qui\b|\bqui (?:est|sont|a|ont|etait)\b|\bpar qui\b/],
  [
    'cause',
    /\bwhat (?:caused|causes|provoked|led to|made)\b|\bwhat (?:is|was|were) the causes?\b|\bqu est ce qui (?:a (?:cause|provoque)|cause|provoque)\b|\bquelle (?:est|etait|fut) la cause\b/,
  ],
  ['reason', /\bwhy\b|\bpourquoi\b|\bfor what reason\b|\bpour quelle raison\b/],
  [
    'name',
    /\bcomment (?:s appel|se nomm)\w{1,6}\b|\bwhat (?:is|are|was|were) the (?:full |first |last )?(?:names?|title)\b|\bwhat (?:is|are|was|were) .{1,60} (?:called|named) ?\?|\bquels? (?:est|sont|etait|etaient) (?:le|les|l) (?:autre |vrai |nouveau )?(?:noms?|titre)\b(?! des\b)|\bwhich (\w{1,30})\b|\bquel(?:le)?s? (riviere|torrent|fleuve|ville|pays|comete|societe|laboratoire|logiciel)\b/,
  ],
  [
    'manner',
    /^(?:and )?how (?:do|does|did|can|could|should|must|may|is|are|was|were|to)\b(?!.{0,80}\b(?:work|differ|look|feel|affect|change|called)\b)|^comment (?:puis|peut|pouvons|dois|doit|faut|faire)\b/,
  ],
];

/** They ask and name no thing, where something is measured or dated. */
const ASKING_WORDS = new Set(
  (
    'long deep high tall wide large big far fast speed vitesse heavy thick old weigh year date day month time temperature percentage ' +
    'price cost fee name annee date jour mois heure siecle age hauteur longueur largeur profondeur superficie taille ' +
    'distance portee altitude epaisseur diametre poids pese pesent mesure prix montant tarif delai duree pourcentage ' +
    'appelle appelait nom coute coutent vaut raison reason temps hot cold warm people personne personnes'
  )
    .split(' ')
    .map(lightStem),
);

/** The same where a name is asked for. */
const NAMING_WORDS = new Set(
  'name title called named nom titre appelle appelait nomme'.split(' ').map(lightStem),
);
/** Of these kinds every word of a question but the first names a thing: `Who measures the time?` */
const NONE_ASKING: ReadonlySet<Kind> = new Set<Kind>(['person', 'place', 'cause', 'manner']);

function isAsking(kind: Kind, stem: string): boolean {
  if (NONE_ASKING.has(kind)) return false;
  return kind === 'name' ? NAMING_WORDS.has(stem) : ASKING_WORDS.has(stem);
}

/** Null: the words of the question do not tell. */
export function readAnswerType(question: string): AnswerType | null {
  const folded = foldApart(question);
  for (const [kind, pattern] of ASKED) {
    const found = pattern.exec(folded);
    if (found === null) continue;
    const thing = found.slice(1).find(Boolean);
    const own = wordsOf(folded).map(lightStem);
    return {
      kind,
      counted: thing === undefined ? null : lightStem(thing),
      asking: new Set(own.filter((stem) => isAsking(kind, stem))),
    };
  }
  return null;
}
