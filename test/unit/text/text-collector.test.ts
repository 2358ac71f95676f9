import { describe, expect, test } from '@jest/globals';
import { createTextCollector } from '../../../activities/text/text-collector.js';

describe('createTextCollector', () => {
  test.each([0, 1, 15, 16, 17, 1000])('%i pieces are one text, in their order', (count) => {
    const pieces = Array.from({ length: count }, (_, index) => (index % 5 === 0 ? '' : `é${index} `));
    const collector = createTextCollector();
    pieces.forEach((piece) => collector.add(piece));
    expect(collector.text()).toBe(pieces.join(''));
  });

  test('goes on behind what was read', () => {
    const collector = createTextCollector();
    collector.add('one');
    expect(collector.text()).toBe('one');
    expect(collector.text()).toBe('one');
    collector.add(' two');
    expect(collector.text()).toBe('one two');
  });
});
