/** Longest first. French and English together: a text mixes them, and question and source are treated alike. */
const SUFFIXES = [
  'issement',
  'ation',
  'ement',
  'ingly',
  'ment',
  'edly',
  'ing',
  'ant',
  'ent',
  'ed',
  'ee',
  'er',
  'ez',
  'ir',
  'ly',
  'e',
];
const MIN_STEM = 4;
const MIN_STEM_OF_E = 3;

function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && word.endsWith('aux')) return `${word.slice(0, -2)}l`;
  if (word.endsWith('x') || (word.endsWith('s') && !word.endsWith('ss'))) return word.slice(0, -1);
  return word;
}

/**
 * A light stem of a folded word: plural, then one common ending, then a doubled last consonant. In the spirit of
 * Harman's S-stemmer and Savoy's light French stemmer (http://members.unine.ch/jacques.savoy/clef/), merged so
 * that no language need be known. Stems are keys to compare, not words. Words of up to three letters and those
 * with digits (part numbers, years) stay as they are.
 */
export function lightStem(word: string): string {
  if (word.length <= 3 || /\p{N}/u.test(word)) return word;
  let stem = singular(word);
  const suffix = SUFFIXES.find(
    (ending) =>
      stem.endsWith(ending) && stem.length - ending.length >= (ending === 'e' ? MIN_STEM_OF_E : MIN_STEM),
  );
  if (suffix !== undefined) stem = stem.slice(0, -suffix.length);
  if (/([^aeiouy])\1$/.test(stem) && stem.length > MIN_STEM) stem = stem.slice(0, -1);
  return stem.endsWith('y') ? `${stem.slice(0, -1)}i` : stem;
}
