/** Behind one to three digits that begin with no zero, between groups of three. */
const BETWEEN_GROUPS =
  /(?<=^[1-9]\p{N}{0,2}(?:[.,'’\u00A0\u202F ]\p{N}{3}){0,6})[.,'’\u00A0\u202F ](?=\p{N}{3}(?!\p{N}))/gu;

/** Without zeros that change nothing: `007` is `7`, `1.50` is `1.5`. */
function withoutZeros(digits: string): string {
  const plain = digits.replace(/^0{1,20}(?=\d)/, '');
  return plain.includes('.') ? plain.replace(/0{1,20}$/, '').replace(/\.$/, '') : plain;
}

function digitsOf(text: string): string {
  return text.replace(BETWEEN_GROUPS, '').replace(',', '.').replace(/^\./, '0.');
}

/** What a number is compared by: its digits, with a point before its decimals and with its sign. */
export function readNumber(text: string, isNegative: boolean): string {
  return `${isNegative ? '-' : ''}${withoutZeros(digitsOf(text))}`;
}

/** Zeros behind other decimals: one in 2.10; none in 2.0, which is 2 as a section or version as well. */
export function zerosAtEnd(text: string): number {
  const decimals = digitsOf(text).split('.')[1] ?? '';
  const without = decimals.replace(/0{1,20}$/, '');
  return without === '' ? 0 : decimals.length - without.length;
}

/** A number with so many zeros more: 1.5 with six is 1500000. */
export function withZeros(number: string, zeros: number): string {
  const [whole = '', decimals = ''] = number.split('.');
  const digits = `${whole}${decimals.slice(0, zeros).padEnd(zeros, '0')}.${decimals.slice(zeros)}`;
  return digits.startsWith('-') ? `-${withoutZeros(digits.slice(1))}` : withoutZeros(digits);
}

/** Four digits as a year of our time is written. */
export function isYearDigits(text: string): boolean {
  return /^(?:1\d|20)\d\d$/.test(text);
}
