import { foldApart, wordsOf } from '../../text/fold-text.js';
import { lightStem } from '../../text/light-stem.js';

type Kind =
  | 'count'
  | 'money'
  | 'size'
  | 'duration'
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
  | 'person'
  | 'reason'
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
  ['frequency', /\bhow often\b|\bcombien de fois\b|\bfrequence\b/],
  ['age', /\bhow old\b|\bquel age\b|\ba partir de quel age\b/],
  [
    'money',
    /\bhow much (?:do|does|did|is|are|was|will)\b.{0,60}\b(?:cost|rent|pay|paid|price|fee)\b|\bwhat (?:did|do|does) .{0,60}\bcost\b|\b(?:price|fee|fine)\b|\bcombien (?:coute|coutera|coutent|a coute|vaut|valent|paie|paient)\b|\bquel(?:le)? (?:est|etait) (?:le prix|le tarif|le montant|le supplement|l amende)\b/,
  ],
  [
    'duration',
    /\b(?:for )?how long (?:does|did|do|must|may|are|has|have)\b|\bwithin (?:what time|how many)\b|\b(?:combien de temps|quelle duree|quel delai|pendant combien)\b/,
  ],
  ['count', /\bhow many (\w{1,30})\b|\bcombien (?:d |de |d')(\w{1,30})\b/],
  [
    'length',
    /\bhow (?:long|deep|tall|wide|far|thick)\b|\bhow high (?:is|was|are|may|can|does) (?!the (?:deposit|fine|fee|price|rent))|\b(?:quelle (?:est|etait) (?:la|l)|a quelle) (?:altitude|epaisseur|hauteur|longueur|largeur|profondeur|distance|portee)\b|\bquel (?:est|etait) le diametre\b/,
  ],
  ['area', /\bquelle (?:est|etait) la superficie\b|\bwhat (?:is|was) the area\b/],
  [
    'weight',
    /\bhow heavy\b|\bhow much (?:do|does|did) .{0,40}\bweigh\b|\bcombien (?:pese|pesent|pesait)\b|\bquel (?:est|etait) le poids\b/,
  ],
  ['size', /\bhow (?:high|large|big)\b|\bquelle (?:est|etait) la taille\b|\bcombien (?:mesure|mesurent)\b/],
  [
    'amount',
    /\bhow much (?!is |are |was |were |do |does |did |will )(\w{1,30})\b|\bhow much\b|\bcombien\b|\b(?:what|quel) (?:percentage|share|pourcentage)\b|\b(?:what|which|quelle) temperature\b/,
  ],
  ['clock', /\b(?:what time|quelle heure)\b/],
  ['year', /\b(?:what|which) (?:year|century)\b|\bquel(?:le)? (?:annee|siecle)\b/],
  [
    'time',
    /^(?:and |but |since |until |by )?when (?:is|are|was|were|will|do|does|did|can|may|must|should|has|have|had|would)\b|\bby when\b|\b(?:what|which) (?:date|day|month)\b|^(?:depuis |et |jusqu a )?quand\b|\bquand \?|\bquel(?:le)? (?:date|jour|mois|epoque)\b/,
  ],
  ['place', /^(?:and |from )?where\b|(?:^|\bd )ou\b(?! bien)/],
  ['person', /\b(?:who|whom|whose)\b|^qui\b|\bqui (?:est|sont|a|ont|etait)\b|\bpar qui\b/],
  ['reason', /\bwhy\b|\bpourquoi\b|\bfor what reason\b|\bpour quelle raison\b/],
  [
    'name',
    /\bcomment (?:s appel|se nomm)\w{1,6}\b|\bwhich (\w{1,30})\b|\bquel(?:le)?s? (riviere|torrent|fleuve|ville|pays|comete|societe|laboratoire|logiciel)\b/,
  ],
];

/** They ask and name no thing. */
const ASKING_WORDS = new Set(
  (
    'long deep high tall wide large big far heavy thick old weigh year date day month time temperature percentage ' +
    'price cost fee name annee date jour mois heure siecle age hauteur longueur largeur profondeur superficie taille ' +
    'distance portee altitude epaisseur diametre poids pese pesent mesure prix montant tarif delai duree pourcentage ' +
    'appelle appelait nom coute coutent vaut raison reason temps people personne personnes'
  )
    .split(' ')
    .map(lightStem),
);

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
      asking: new Set(own.filter((stem) => ASKING_WORDS.has(stem))),
    };
  }
  return null;
}
