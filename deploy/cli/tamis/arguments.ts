import { InvalidArgumentError } from 'commander';

/** Readers of options and arguments; each @throws InvalidArgumentError. */

function numberIn(least: number, most: number, words: string, isWhole: boolean) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most) || (isWhole && !Number.isInteger(value)))
      throw new InvalidArgumentError(`It must be ${words}.`);
    return value;
  };
}

export function count(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return numberIn(least, most, `a whole number from ${least}`, true);
}

export const share: (text: string) => number = numberIn(0, 1, 'a number from 0 to 1', false);

/** Pages a second; the word `none` takes a limit away. */
export function pages(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1000))
    throw new InvalidArgumentError('It must be a number above 0, at most 1000.');
  return value;
}

export function pagesOrNone(text: string): number | null {
  return text === 'none' ? null : pages(text);
}
