import { lightStem } from '../../text/light-stem.js';

/** Months, then days of the week, folded; English and French, which writes them small. */
const NAMES = [
  'january jan janvier janv',
  'february feb fevrier fevr',
  'march mars',
  'april apr avril',
  'may mai',
  'june jun juin',
  'july jul juillet juil',
  'august aug aout',
  'september sept sep septembre',
  'october oct octobre',
  'november nov novembre',
  'december dec decembre',
  'monday lundi',
  'tuesday mardi',
  'wednesday mercredi',
  'thursday jeudi',
  'friday vendredi',
  'saturday samedi',
  'sunday dimanche',
];

/** The stem of a folded word; "après" would have that of "Apr". */
export function stemOf(folded: string): string {
  return folded === 'apres' ? folded : lightStem(folded);
}

const BY_STEM: ReadonlyMap<string, string> = new Map(
  NAMES.flatMap((names, index) =>
    names.split(' ').map((name): [string, string] => [lightStem(name), String(index + 1)]),
  ),
);

/** The month by its number, 1 to 12, or a day of the week, from 13; undefined where a word is none. */
export function dateOf(stem: string): string | undefined {
  return BY_STEM.get(stem);
}
