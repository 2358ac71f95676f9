import { expect, test } from '@jest/globals';
import { parseFlatHtml } from '../../activities/documents/parsing/flat-html-parser.js';
import { parseHtml } from '../../activities/documents/parsing/html-parser.js';
import { nestsDeeperThan } from '../../activities/documents/parsing/html-tags.js';

/** So long that it takes longer than to compile the code that reads it. */
const SMALL = 200_000;
const TIMES = 10;
/** What is quadratic grows a hundredfold; the rest is for a machine that is busy with something else. */
const GROWTH = 30;
const FLOOR_MS = 20;

/** CPU time of this process, the least of three: what others do on the machine does not count. */
function leastCpuMs(work: () => void): number {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    }),
  );
}

function textOf(html: string): string {
  return [...parseFlatHtml(html)].map(({ text }) => text).join('\n');
}

/** Wherever reading begins, each `>` of these stands in quotes that are open, and no tag ends. */
const NEVER_CLOSED = ['<a ="" =">', `<a ='' ='>`, `<a ="" ='' =">`];

test.each([
  ...NEVER_CLOSED,
  `<a =">" ="`,
  '<a b="',
  `<a ='>`,
  '<a ="><',
  '<',
  '</',
  '<!--',
  '<!',
  '<a',
  '<script',
  '<title>',
  '<p hidden><b>',
  '<div hidden><button><p></p>',
  '<b><div><p><li><td>',
  '<i style=a:b></p></td></i>',
])('ten times as much of %s takes some ten times the time', (unit) => {
  const write = (length: number): string => unit.repeat(Math.ceil(length / unit.length)) + '<p>end</p>';
  const [small, large] = [write(SMALL), write(SMALL * TIMES)];
  // Left open by the end of its paragraph, a browser opens each again in all that follow.
  expect(nestsDeeperThan('<p><font size=1>x</p>'.repeat(1_100), 256)).toBe(true);
  expect(nestsDeeperThan('<p><font size=1>x</p>'.repeat(900), 256)).toBe(false);
  expect(nestsDeeperThan('<p><font size=1>x</font></p>'.repeat(3_000), 256)).toBe(false);
  expect(nestsDeeperThan('<p><b>x</p></b>'.repeat(3_000), 256)).toBe(false);
  for (const read of [textOf, (html: string) => void nestsDeeperThan(html, 100_000)]) {
    read(small); // compiled before it is measured
    const before = leastCpuMs(() => void read(small));
    // What is quadratic takes seconds of it already, and minutes of ten times as much.
    expect(before).toBeLessThan(1_000);
    expect(leastCpuMs(() => void read(large))).toBeLessThan(GROWTH * Math.max(before, FLOOR_MS / TIMES));
  }
});

test.each(NEVER_CLOSED)('what follows %s is read all the same', (unit) => {
  expect(textOf(`${unit.repeat(10_000)}<p>end</p>`)).toContain('end');
});

/** Nine hundred that are left open, each with a name of its own. */
const LEFT_OPEN = Array.from({ length: 10 }, (_, i) => {
  const open = Array.from({ length: 90 }, (_element, j) => `<b id=${i * 90 + j}>`).join('');
  return `<p>${open}x</p>`;
}).join('');

test.each([
  '<p>a',
  '<p>a</p>',
  '<div>a</div>',
  '<li>a',
  '<table>a<tr>',
  '<p>a<div>b</div>',
  '<li><option>',
  '<p></br>',
])('what is left open is counted anew for each %s that follows', (unit) => {
  expect(nestsDeeperThan(LEFT_OPEN + unit.repeat(1_500), 400)).toBe(true);
  expect(nestsDeeperThan(LEFT_OPEN + '<p>a</p>'.repeat(100), 400)).toBe(false);
});

test('what is left open and stays open, or is like the others, is not counted anew', () => {
  expect(nestsDeeperThan(`${LEFT_OPEN}<div>${'a <i>word</i><br>'.repeat(10_000)}</div>`, 400)).toBe(false);
  const alike = '<p><font size=1>x</p>\n'.repeat(900);
  expect(nestsDeeperThan(alike + '<p>a</p>\n'.repeat(10_000), 400)).toBe(false);
});

test('a page on which much is left open is read flat, with all of its text', () => {
  const sections = parseHtml(`${LEFT_OPEN}${'<p>sieve '.repeat(700)}<p>end`, 400);
  const text = [...sections].map((section) => section.text).join('\n');
  expect(text.split('sieve')).toHaveLength(701);
  expect(text).toContain('end');
});
