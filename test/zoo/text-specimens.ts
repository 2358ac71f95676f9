import iconv from 'iconv-lite';
import { ALL_SCRIPTS, SCRIPTS, cut } from './specimen.js';
import type { Specimen } from './specimen.js';

const EMPTY = { code: 'NO_INDEXABLE_CONTENT' } as const;
const FRENCH = 'Le meunier a déjà réparé la roue à aubes près de la forêt, où l’été fut très chaud. '.repeat(
  8,
);
const RUSSIAN = 'Водяная мельница стоит на берегу реки и работает каждый день. '.repeat(8);
const JAPANESE = '水車小屋は川のそばに立っています。毎日九時に開きます。'.repeat(8);

function paragraphs(lines: readonly string[]): string {
  return lines.join('\n\n');
}

/** Plain text, Markdown, HTML, tables in text, JSON, XML, SVG and source code. */
export const TEXT_SPECIMENS: Specimen[] = [
  { name: 'good.txt', bytes: () => paragraphs(ALL_SCRIPTS), expected: { finds: ALL_SCRIPTS } },
  { name: 'empty.txt', bytes: () => '', expected: EMPTY },
  { name: 'blank.txt', bytes: () => ' \n\t\r\n\f '.repeat(500), expected: EMPTY },
  {
    name: 'byte-order-mark.txt',
    bytes: () => `\ufeff${SCRIPTS.accents}`,
    expected: { finds: [SCRIPTS.accents] },
  },
  {
    name: 'utf-16-le.txt',
    bytes: () => iconv.encode(paragraphs(ALL_SCRIPTS), 'utf16le', { addBOM: true }),
    expected: { finds: ALL_SCRIPTS },
  },
  {
    name: 'utf-16-be.txt',
    bytes: () => iconv.encode(paragraphs(ALL_SCRIPTS), 'utf16be', { addBOM: true }),
    expected: { finds: ALL_SCRIPTS },
  },
  {
    name: 'windows-1252.txt',
    bytes: () => iconv.encode(FRENCH, 'windows-1252'),
    expected: { finds: ['réparé la roue à aubes près de la forêt, où l’été'] },
  },
  {
    name: 'windows-1251.txt',
    bytes: () => iconv.encode(RUSSIAN, 'windows-1251'),
    expected: { finds: ['Водяная мельница стоит на берегу реки'] },
  },
  {
    name: 'shift-jis.txt',
    bytes: () => iconv.encode(JAPANESE, 'shift_jis'),
    expected: { finds: ['水車小屋は川のそばに立っています'] },
  },
  {
    name: 'one-wrong-byte.txt',
    bytes: () =>
      Buffer.concat([
        Buffer.from(`${SCRIPTS.accents} before `),
        Buffer.from([0xff]),
        Buffer.from(' after it'),
      ]),
    expected: { finds: ['before', 'after it'] },
  },
  {
    name: 'binary.txt',
    bytes: () => Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256)),
    expected: { code: 'UNSUPPORTED_CONTENT' },
  },
  {
    name: 'one-line.txt',
    bytes: () => `${'x'.repeat(300_000)} needle ${'y'.repeat(300_000)}`,
    expected: { finds: ['needle'] },
  },
  {
    name: 'invisible.txt',
    bytes: () => 'Visible words. \u{e0049}\u{e0067}\u{e006e}\u200b\u2060 More words.',
    expected: { finds: ['Visible words.', 'More words.'], not: ['\u{e0049}', '\u2060'] },
  },
  {
    name: 'huge.txt',
    bytes: () => `${'The mill grinds rye and barley every day. \n'.repeat(1_200_000)}The last needle.`,
    expected: { finds: ['The last needle.'] },
    huge: true,
  },

  {
    name: 'good.md',
    bytes: () =>
      `# ${SCRIPTS.accents}\n\n- ${SCRIPTS.hebrew}\n- ${SCRIPTS.japanese}\n\n| grain | price |\n| --- | --- |\n| rye | ${SCRIPTS.emoji} |\n\n` +
      '```sql\nSELECT mill_id FROM mills;\n```\n',
    expected: {
      finds: [SCRIPTS.accents, SCRIPTS.hebrew, SCRIPTS.japanese, SCRIPTS.emoji, 'SELECT mill_id FROM mills;'],
    },
  },
  { name: 'empty.md', bytes: () => '', expected: EMPTY },
  {
    name: 'deep.md',
    bytes: () => `${'> '.repeat(5000)}the quoted needle\n\n${'- '.repeat(5000)}the listed needle`,
    expected: { finds: ['the quoted needle', 'the listed needle'] },
  },
  {
    name: 'really-a-pdf.md',
    bytes: () => Buffer.from(`%PDF-1.4\n${'\0\x01\x02'.repeat(3000)}`),
    expected: { code: 'UNSUPPORTED_CONTENT' },
  },

  {
    name: 'good.html',
    bytes: () =>
      `<!doctype html><meta charset=utf-8><title>T</title><nav>Home About</nav><main><h1>The mill<br>of Łódź</h1>` +
      `<p dir=rtl>${SCRIPTS.arabic}</p><p>${SCRIPTS.chinese}</p><p>${SCRIPTS.emoji}</p>` +
      '<table><tr><th>a<th>b<tr><td><p>inspected</p><p>approved</p><td>2</table>' +
      '<form><p>In the form stands text.</p><label>Name</label></form><script>alert("script words")</script></main>',
    expected: {
      finds: [
        'The mill of Łódź',
        SCRIPTS.arabic,
        SCRIPTS.chinese,
        SCRIPTS.emoji,
        'inspected',
        'approved',
        'In the form stands text.',
      ],
      not: ['inspectedapproved', 'script words'],
    },
  },
  { name: 'empty.html', bytes: () => '<!doctype html><html><body></body></html>', expected: EMPTY },
  {
    name: 'cut-off.html',
    bytes: () => '<html><body><p>The first needle.<div><table><tr><td>cell needle<a href="http://x',
    expected: { finds: ['The first needle.', 'cell needle'] },
  },
  {
    name: 'declared-latin.html',
    bytes: () => iconv.encode('<meta charset="iso-8859-1"><p>Société générale du moulin</p>', 'latin1'),
    expected: { finds: ['Société générale du moulin'] },
  },
  {
    name: 'nested-a-hundred-thousand-deep.html',
    bytes: () => `${'<div>'.repeat(100_000)}the deep needle`,
    expected: { finds: ['the deep needle'] },
  },
  {
    name: 'external-references.html',
    bytes: () =>
      '<link rel=stylesheet href="http://127.0.0.1:1/a.css"><img src="http://127.0.0.1:1/a.png" alt="a wheel">' +
      '<iframe src="file:///etc/passwd"></iframe><p>Words beside references.</p>',
    expected: { finds: ['Words beside references.'], not: ['root:'] },
  },
  {
    name: 'never-closed-quotes.html',
    bytes: () => `<p>Before.</p>${'<a title="'.repeat(20_000)}`,
    expected: { finds: ['Before.'] },
  },

  {
    name: 'good.csv',
    bytes: () => `grain;price;note\nrye;1,5;"two\nlines"\n${SCRIPTS.accents};2;${SCRIPTS.korean}\n`,
    expected: { finds: ['| grain | price | note |', SCRIPTS.accents, SCRIPTS.korean] },
  },
  { name: 'empty.csv', bytes: () => '', expected: EMPTY },
  {
    name: 'a-quote-that-never-closes.csv',
    bytes: () => `a,b\n"1,2\n${'3,4\n'.repeat(400_000)}`,
    expected: { code: 'FILE_CORRUPT' },
  },
  {
    name: 'a-hundred-thousand-columns.csv',
    bytes: () => `${Array.from({ length: 100_000 }, (_, index) => `c${index}`).join(',')}\n`,
    expected: { code: 'FILE_TOO_COMPLEX' },
  },
  {
    name: 'formulas.csv',
    bytes: () => 'name,total\n"=HYPERLINK(""http://127.0.0.1:1"")",=1+1\nrye,3\n',
    expected: { finds: ['rye', '=1+1'] },
  },
  {
    name: 'good.tsv',
    bytes: () => `grain\tprice\nrye\t${SCRIPTS.hebrew}\n`,
    expected: { finds: [SCRIPTS.hebrew] },
  },
  {
    name: 'long.csv',
    bytes: () =>
      `id,grain\n${Array.from({ length: 1_000_000 }, (_, index) => `${index},grain of row ${index}\n`).join('')}`,
    expected: { finds: ['grain of row 999999'] },
    huge: true,
  },

  {
    name: 'good.json',
    bytes: () => JSON.stringify({ mill: { name: SCRIPTS.accents, big: 1, list: [SCRIPTS.japanese, null] } }),
    expected: { finds: [`mill.name: ${SCRIPTS.accents}`, SCRIPTS.japanese] },
  },
  { name: 'empty.json', bytes: () => '', expected: EMPTY },
  { name: 'no-values.json', bytes: () => '{}', expected: EMPTY },
  {
    name: 'cut-off.json',
    bytes: () => '{"mill": {"name": "the needle", "dam":',
    expected: { finds: ['the needle'] },
  },
  {
    name: 'nested-fifty-thousand-deep.json',
    bytes: () => `${'['.repeat(50_000)}1${']'.repeat(50_000)}`,
    expected: { code: 'FILE_TOO_COMPLEX' },
  },
  {
    name: 'prototype-keys.json',
    bytes: () => '{"__proto__": {"polluted": "the proto needle"}, "constructor": "the other needle"}',
    expected: { finds: ['the proto needle', 'the other needle'] },
  },
  {
    name: 'one-broken-line.jsonl',
    bytes: () => '{"a": "first needle"}\n{"a": \n{"a": "last needle"}\n',
    expected: { finds: ['first needle', 'last needle'] },
  },

  {
    name: 'good.xml',
    bytes: () =>
      `<?xml version="1.0"?><mill><name>${SCRIPTS.arabic}</name><dam height="7">stone &amp; oak</dam></mill>`,
    expected: { finds: [SCRIPTS.arabic, 'stone & oak'] },
  },
  {
    name: 'utf-16.xml',
    bytes: () =>
      iconv.encode(`<?xml version="1.0" encoding="UTF-16"?><a><b>${SCRIPTS.chinese}</b></a>`, 'utf16le', {
        addBOM: true,
      }),
    expected: { finds: [SCRIPTS.chinese] },
  },
  {
    name: 'entity-bomb.xml',
    bytes: () => {
      const entities = Array.from(
        { length: 10 },
        (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
      );
      return `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">${entities.join('')}]><a><b>before &e10; after</b></a>`;
    },
    expected: { finds: ['before', 'after'], not: ['lollol'] },
  },
  {
    name: 'external-entity.xml',
    bytes: () =>
      '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY h SYSTEM "http://127.0.0.1:1/x">]><a><b>beside &f; &h; it</b></a>',
    expected: { finds: ['beside'], not: ['root:'] },
  },
  {
    name: 'nested-fifty-thousand-deep.xml',
    bytes: () => `${'<a>'.repeat(50_000)}x`,
    expected: { code: 'FILE_TOO_COMPLEX' },
  },
  { name: 'no-markup.xml', bytes: () => 'These are only words.', expected: { code: 'FILE_CORRUPT' } },
  {
    name: 'good.svg',
    bytes: () =>
      '<svg xmlns="http://www.w3.org/2000/svg"><title>A wheel</title><style>.a{fill:red}</style>' +
      `<image href="http://127.0.0.1:1/a.png"/><text>${SCRIPTS.hebrew}</text></svg>`,
    expected: { finds: ['A wheel', SCRIPTS.hebrew], not: ['fill:red'] },
  },

  {
    name: 'good.py',
    bytes: () => `def open_sluice(level):\n    """${SCRIPTS.accents}"""\n    return level * 2\n`,
    expected: { finds: ['def open_sluice(level):', SCRIPTS.accents] },
  },
  {
    name: 'one-long-line.js',
    bytes: () => `${'var a=1;'.repeat(100_000)}function sluiceNeedle(){}`,
    expected: { finds: ['function sluiceNeedle'] },
  },
  {
    name: 'good.yaml',
    bytes: () => `mill:\n  name: ${SCRIPTS.accents}\n  a: &a [x]\n  b: *a\n`,
    expected: { finds: [SCRIPTS.accents, 'b: *a'] },
  },
  {
    name: 'cut-in-a-character.txt',
    bytes: () => cut(SCRIPTS.japanese, 0.97),
    expected: { finds: ['水車小屋は'], degraded: true },
  },
];
