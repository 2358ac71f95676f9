import { foldApart } from '../../text/fold-text.js';

/** Over text by `foldApart`. */
const ASKS_FUTURE =
  /\b(?:will|shall)\b|\b(?:sera|seront|aura|auront|fera|feront|pourra|pourront|devra|devront|va t|vont)\b/;
const ASKS_PRESENT =
  /\b(?:now|nowadays|currently|today|at present)\b|\b(?:maintenant|actuellement|aujourd hui|en ce moment)\b/;
const PAST =
  /\b(?:was|were|has|have|had|did)\b|\b(?:etait|etaient|fut|furent|avait|avaient|a ete|ont ete|est ne|est nee|est mort|est morte)\b/;
const FUTURE =
  /\b(?:will|shall|would|going to|is to|are to|due|planned|expected|scheduled|next|until|(?:decided|agreed|intends?|hopes?|wants?|plans?) to)\b|\b(?:sera|seront|aura|auront|fera|feront|pourra|pourront|devra|devront|va|vont|prevue?s?|prochaine?|jusqu|(?:decide|convenu) (?:de|d)|veut|veulent|souhaite|compte)\b/;
const UP_TO_NOW =
  /\b(?:since|still|remains?|now|currently|today)\b|\b(?:depuis|encore|toujours|reste|maintenant|actuellement|aujourd hui)\b/;

const BEFORE = /\b(?:before|until|till|by|avant|jusqu (?:a|en)) (\d{4})\b/;
const SINCE = /\b(?:since|after|from|depuis|apres) (\d{4})\b/;

/** What holds since a year does not tell of the time before it. */
function isOtherSide(question: string, told: string): boolean {
  const [before, since] = [BEFORE.exec(question)?.[1], SINCE.exec(question)?.[1]];
  return (
    (before !== undefined && SINCE.exec(told)?.[1] === before) ||
    (since !== undefined && BEFORE.exec(told)?.[1] === since)
  );
}

/**
 * Whether a sentence may answer a question of the future, or of what is now: one that tells of the past alone does not.
 * @param question by `foldApart`
 * @param sentence as it stands; most questions ask of no time, and it is not read for them
 */
export function agreesInTense(question: string, sentence: string): boolean {
  const future = ASKS_FUTURE.test(question);
  const asksOfTense = future || ASKS_PRESENT.test(question);
  if (!asksOfTense && !/\d{4}/.test(question)) return true;
  const told = foldApart(sentence);
  if (isOtherSide(question, told)) return false;
  return !asksOfTense || !PAST.test(told) || FUTURE.test(told) || (!future && UP_TO_NOW.test(told));
}
