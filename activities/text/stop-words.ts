/**
 * Words that say little about what a text is on, accents folded as `foldText` folds them. Elided French forms
 * (`l'eau` is read as `l` and `eau`) and English contractions (`don't`: `don`, `t`) are among them. Left out
 * are French ones that name things in English (ai, car, ton).
 */
const ENGLISH =
  'a about after all also am an and any are as at be been before being between both but by can could did do ' +
  'does doing don done each for from had has have having he her here him his how i if in into is it its just ' +
  'let may me might more most must my no nor not of off on once only or other our out over own please s same ' +
  'shall she should so some such t than that the their them then there these they this those through to too ' +
  'under until up us very was we were what when where which while who whom whose why will with would you your';

const FRENCH =
  'a ainsi alors apres as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c ' +
  'ce ceci cela celle celles celui ces cet cette ceux chez comme comment d dans de depuis des desquelles ' +
  'desquels dont du duquel elle elles en encore entre es est et etaient etait etant etc ete etes etre eu eux ' +
  'fait faut fut il ils j je l la laquelle le lequel les lesquelles lesquels leur leurs lors lui m ma mais me ' +
  'meme memes mes moi mon n ne ni nos notre nous on ont ou par parce pas peut peuvent plus pour pourquoi ' +
  'qu quand que quel quelle quelles quels qui quoi s sa sans se selon sera ses si soit son sont sous sur t ta ' +
  'te tel telle telles tels tes toi tous tout toute toutes tres tu un une va vers voici voila vos votre vous y';

export const ENGLISH_STOP_WORDS: ReadonlySet<string> = new Set(ENGLISH.split(' '));
export const FRENCH_STOP_WORDS: ReadonlySet<string> = new Set(FRENCH.split(' '));

/** Whether a folded word is a stop word in either language: texts mix them, and the lists hardly collide. */
export function isStopWord(word: string): boolean {
  return ENGLISH_STOP_WORDS.has(word) || FRENCH_STOP_WORDS.has(word);
}
