/**
 * What answers say that find nothing in their sources, in the first words of theirs. Of what contains, includes or
 * supports nothing, sources are meant alone: a warranty does not include batteries either.
 */
const REFUSALS = [
  /\b(?:found|find|says?|contains?|holds?) (?:nothing|no (?:information|answer|mention))\b/i,
  /\b(?:do|does|did|could|can|was|were|is|are)(?: not|n['’]t) (?:able to )?(?:say|mention|answer|state|mentioned|answered|specified|stated)\b/i,
  /\b(?:sources?|documents?|texts?|extracts?|excerpts?|passages?|context|information|they)\b(?:(?!\b(?:says?|states?|shows?|tells?)\b)[^.!?\n]){0,40}\b(?:do|does|did|could|can|was|were|is|are)(?: not|n['’]t) (?:able to )?(?:contain|hold|provide|include|specify|support)\b/i,
  /\b(?:cannot|unable to) (?:be answered|answer|say|determine)\b/i,
  /\b(?:i|we)\b[^.!?\n]{0,20}\b(?:cannot|can['’]t|unable to|(?:can|could|do|did|was|were)(?: not|n['’]t)(?: able to)?) find\b/i,
  /\b(?:there is|there's|i have) (?:nothing|no (?:information|answer|mention))\b/i,
  /\b(?:rien trouvé|aucune (?:information|mention|réponse)|impossible de répondre)/i,
  /\b(?:ne|n['’])\s?(?:mentionne(?:nt)?|précise(?:nt)?|dis(?:ent)?|dit) (?:pas|rien|aucune?)\b/i,
  /\b(?:sources?|documents?|textes?|extraits?|passages?|contexte|informations?|ils)\b(?:(?!\b(?:dit|disent|indiquent?|montrent?) qu)[^.!?\n]){0,40}\b(?:ne|n['’])\s?(?:contien(?:t|nent)|indique(?:nt)?|permet(?:tent)?) (?:pas|rien|aucune?)\b/i,
  /\bje (?:ne|n['’])\s?(?:trouve|sais|peux) (?:pas|rien|aucune?)\b/i,
  /\b(?:ne|n['’])\s?(?:peux|peut) pas (?:répondre|dire|trouver|déterminer)\b/i,
];
const FIRST_WORDS = 400;

/** Whether an answer that cites nothing says that the sources do not hold what was asked, in English or French. */
export function isRefusal(answer: string): boolean {
  const words = answer.trim().slice(0, FIRST_WORDS);
  return REFUSALS.some((refusal) => refusal.test(words));
}
