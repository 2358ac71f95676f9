import { describe, expect, it } from '@jest/globals';
import { transcriptText } from '../../../activities/documents/transcript-text.js';

function said(...segments: [start: number, end: number, text: string][]): string {
  return transcriptText({
    text: 'not used',
    segments: segments.map(([start, end, text]) => ({ start, end, text })),
  });
}

describe('transcriptText', () => {
  it('begins a paragraph with its time, and a new one behind a pause', () => {
    expect(said([0, 2, ' The mill'], [2, 4, ' opens\nat nine.'], [6, 8, ' Tickets cost nine euros.'])).toBe(
      '[0:00:00] The mill opens at nine.\n\n[0:00:06] Tickets cost nine euros.',
    );
  });

  it('ends a long paragraph with a sentence, and at last without one', () => {
    const every = (seconds: number, count: number, text: string): [number, number, string][] =>
      Array.from({ length: count }, (_, index) => [index * seconds, (index + 1) * seconds, text]);
    expect(said(...every(10, 6, 'A sentence.')).split('\n\n')).toHaveLength(2);
    const endless = said(...every(10, 20, 'and on')).split('\n\n');
    expect(endless.map((paragraph) => paragraph.slice(0, 9))).toEqual([
      '[0:00:00]',
      '[0:01:30]',
      '[0:03:00]',
    ]);
  });

  it('counts hours, and leaves out what says nothing', () => {
    expect(said([0, 1, '  '], [3723.9, 3725, 'Late.'])).toBe('[1:02:03] Late.');
    expect(said([0, 1, ' '])).toBe('');
  });

  it('is the text alone where there are no times', () => {
    expect(transcriptText({ text: ' All of it. ', segments: [] })).toBe('All of it.');
  });
});
