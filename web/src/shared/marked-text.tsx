import { Mark } from '@mantine/core';

/** A part of a text, counted in Unicode code points as the server does. */
export interface TextRange {
  from: number;
  to: number;
}

/** A text as it is, with its marked parts; ranges are in order and apart. */
export function MarkedText({ text, ranges }: { text: string; ranges: readonly TextRange[] }) {
  if (ranges.length === 0) return text;
  const points = Array.from(text);
  return ranges.map(({ from, to }, index) => (
    <span key={from}>
      {points.slice(ranges[index - 1]?.to ?? 0, from).join('')}
      <Mark>{points.slice(from, to).join('')}</Mark>
      {index === ranges.length - 1 && points.slice(to).join('')}
    </span>
  ));
}
