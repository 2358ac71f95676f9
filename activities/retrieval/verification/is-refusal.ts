/** What answers say that find nothing in their sources, in the first words of theirs. */
const REFUSALS = [
  /\b(?:found|find|says?|contains?|holds?) (?:nothing|no (?:information|answer|mention))\b/i,
  /\b(?:do|does|did|could|can|was|were|is|are)(?: not|n['’]t) (?:able to )?(?:contain|hold|say|mention|provide|include|specify|answer|state|find|mentioned|answered|specified|stated|support)\b/i,
  /\b(?:cannot|unable to) (?:be answered|answer|find|say|determine)\b/i,
  /\b(?:there is|there's|i have) (?:nothing|no (?:information|answer|mention))\b/i,
  /\b(?:rien trouvé|aucune (?:information|mention|réponse)|impossible de répondre)/i,
  /\b(?:ne|n['’])\s?(?:contien(?:t|nent)|mentionne(?:nt)?|précise(?:nt)?|indique(?:nt)?|permet(?:tent)?|dis(?:ent)?|dit|trouve|sais|peux|peut) (?:pas|rien|aucune?)\b/i,
];
const FIRST_WORDS = 400;

/** Whether an answer that cites nothing says that the sources do not hold what was asked, in English or French. */
export function isRefusal(answer: string): boolean {
  const words = answer.trim().slice(0, FIRST_WORDS);
  return REFUSALS.some((refusal) => refusal.test(words));
}
