import { lightStem } from '../../text/light-stem.js';

/** What numbers count, with all ways of writing one unit, folded; English and French. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  time: [
    's sec second seconde',
    'min minute',
    'h hr hour heure',
    'day jour j',
    'week semaine',
    'month mois',
    'quarter trimestre',
    'year an annee annum yr',
  ],
  money: ['€ euro eur', '$ dollar usd', '£ gbp sterling', '¥ yen jpy', 'franc chf', 'cent centime'],
  share: ['% percent', 'point'],
  mass: [
    'µg microgram microgramme mcg',
    'mg milligram milligramme',
    'g gram gramme',
    'kg kilo kilogram kilogramme',
  ].concat('t ton tonne', 'lb lbs', 'oz ounce'),
  length: [
    'mm millimetre millimeter',
    'cm centimetre centimeter',
    'm metre meter',
    'km kilometre kilometer',
  ].concat('mile', 'inch inches', 'foot feet ft', 'yard'),
  volume: ['ml millilitre milliliter', 'cl centilitre centiliter', 'l litre liter', 'gallon', 'pint'],
  power: ['w watt', 'kw kilowatt', 'mw megawatt', 'gw gigawatt', 'wh', 'kwh', 'mwh', 'gwh'],
  data: ['kb ko', 'mb', 'gb', 'tb'],
  temperature: ['°c celsius', '°f fahrenheit', '°k kelvin'],
  pressure: ['bar', 'mbar', 'pa', 'kpa', 'psi'],
  voltage: ['v volt', 'mv', 'kv'],
  frequency: ['hz hertz', 'khz', 'mhz', 'ghz'],
  half: ['am', 'pm'],
};

/** How often, in one word; each by the unit of time that it repeats. */
const PERIODS: Readonly<Record<string, string>> = {
  h: 'hourly horaire',
  day: 'daily quotidien quotidienne journalier journaliere',
  week: 'weekly hebdomadaire',
  month: 'monthly mensuel mensuelle mensuellement',
  quarter: 'quarterly trimestriel trimestrielle',
  year: 'yearly annual annually annuel annuelle annuellement',
};

/** A unit of one dimension, such as a month of time. */
export interface Measure {
  dimension: string;
  /** More than one where its name does not tell: a pound is one of mass or of money. */
  units: readonly string[];
}

const BY_STEM: ReadonlyMap<string, Measure> = new Map([
  ...Object.entries(UNITS).flatMap(([dimension, units]) =>
    units.flatMap((names) => {
      const measure: Measure = { dimension, units: [names.split(' ')[0]!] };
      return names.split(' ').map((name): [string, Measure] => [lightStem(name), measure]);
    }),
  ),
  ['pound', { dimension: 'money', units: ['£', 'lb'] }],
  ...['°', 'degree', 'degre'].map((name): [string, Measure] => [
    lightStem(name),
    { dimension: 'temperature', units: ['°c', '°f', '°k'] },
  ]),
  ['ans', { dimension: 'time', units: ['year'] }],
]);

const PERIOD_BY_STEM: ReadonlyMap<string, Measure> = new Map(
  Object.entries(PERIODS).flatMap(([unit, names]) =>
    names
      .split(' ')
      .map((name): [string, Measure] => [lightStem(name), { dimension: 'time', units: [unit] }]),
  ),
);

/** Their plurals are other words, and they stand for units right behind a number alone. */
const SHORT = /^(?:.{1,2}|pa|min|sec|mbar)$/u;

/** @param stem of a word, or a sign */
export function measureOf(stem: string): Measure | null {
  return BY_STEM.get(stem) ?? null;
}

/** Whether a word is a unit whose name is long enough to be known for it anywhere. */
export function unitNamed(stem: string): Measure | null {
  return PERIOD_BY_STEM.get(stem) ?? (SHORT.test(stem) ? null : measureOf(stem));
}

export function periodOf(stem: string): Measure | null {
  return PERIOD_BY_STEM.get(stem) ?? null;
}

export function isSameMeasure(one: Measure, other: Measure): boolean {
  return one.units.some((unit) => other.units.includes(unit));
}

/** Words that multiply the number before them, by the zeros that they add. */
const ZEROS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    2: 'hundred',
    3: 'thousand mille',
    6: 'million mio mn',
    9: 'billion bn milliard md mrd',
  }).flatMap(([zeros, words]) =>
    words.split(' ').map((word): [string, number] => [lightStem(word), Number(zeros)]),
  ),
);
/** The same of one letter: of an amount of money alone. */
const ZEROS_OF_MONEY: ReadonlyMap<string, number> = new Map([
  ['k', 3],
  ['m', 6],
]);

export function zerosOf(stem: string, isOfMoney: boolean, isBehindFrench: boolean): number | null {
  // "Deux cents" is 200; "5 cents" and "five cents" are money.
  if (stem === 'cent' && isBehindFrench) return 2;
  return ZEROS.get(stem) ?? (isOfMoney ? (ZEROS_OF_MONEY.get(stem) ?? null) : null);
}

/** What may stand before "cents" as a hundred; "six cents" is English as well, and read as money. */
export const FRENCH_DIGITS: ReadonlySet<string> = new Set('deux trois quatre cinq sept huit neuf'.split(' '));

/** What a number is a rate in: "per year", "par an". */
export const RATE_MARKS: ReadonlySet<string> = new Set('per par each every chaque'.split(' '));
/** The same behind an amount ("5 euros a day"); elsewhere they count one ("within a day"). */
export const ARTICLES: ReadonlySet<string> = new Set('a an one un une'.split(' '));
