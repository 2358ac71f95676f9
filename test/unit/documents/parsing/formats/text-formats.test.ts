import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import iconv from 'iconv-lite';
import { createReferenceMender } from '../../../../../activities/documents/parsing/formats/xml-references.js';
import { withoutPackedRuns } from '../../../../../activities/documents/parsing/packed-data.js';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';

let parser: TestParser;
beforeAll(async () => {
  parser = await startTestParser();
});
afterAll(() => parser.close());

function tooComplex(limit: string) {
  return { code: 'FILE_TOO_COMPLEX', details: { limit } };
}

describe('CSV and TSV', () => {
  it.each([
    ['commas', 'csv', 'mill,year\nTamis,1842\n"Grand, old",1790\n'],
    ['semicolons', 'csv', 'mill;year\nTamis;1842\n"Grand, old";1790\n'],
    ['tabs', 'tsv', 'mill\tyear\nTamis\t1842\nGrand, old\t1790\n'],
    ['bars', 'csv', 'mill|year\r\nTamis|1842\r\nGrand, old|1790'],
    ['a line that names the sign', 'csv', 'sep=;\nmill;year\nTamis;1842\nGrand, old;1790\n'],
  ] as const)('become Markdown tables: %s', async (_, kind, bytes) => {
    const { chunks } = await parser.parse(kind, bytes);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]).toMatchObject({
      chunkType: 'table',
      text: '| mill | year |\n| --- | --- |\n| Tamis | 1842 |\n| Grand, old | 1790 |',
    });
  });

  it('read other encodings, line ends and bars in cells, rows of other lengths, and cells of several lines', async () => {
    const { text, encoding } = await parser.parse(
      'csv',
      iconv.encode(
        'ville;prénom\r\nNîmes;Zoé|Éloïse\r\nOrléans\r\nSète;"deux\r\nlignes";de trop\r\n',
        'utf-16le',
        {
          addBOM: true,
        },
      ),
    );
    expect(encoding).toBe('utf-16le');
    expect(text.split('\n').slice(2)).toEqual([
      '| Nîmes | Zoé\\|Éloïse |',
      '| Orléans |',
      '| Sète | deux lignes | de trop |',
    ]);
  });

  it('repeat the header in every chunk, lose no row and cut none', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => `item ${i},${i * 3},"a remark, the ${i}th"`);
    const { chunks } = await parser.parse('csv', `name,count,remark\n${rows.join('\n')}`);
    expect(chunks.length).toBeGreaterThan(20);
    expect(chunks.every(({ text }) => text.startsWith('| name | count | remark |\n| --- |'))).toBe(true);
    const found = chunks.flatMap(({ text }) => text.split('\n').slice(2));
    expect(found).toEqual(rows.map((_, i) => `| item ${i} | ${i * 3} | a remark, the ${i}th |`));
  });

  it('have titles above their header as text, and the header in every chunk', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => `01/02/2024;Loyer ${i};1200,63;0,00;9,50`);
    const csv = `Relevé annuel 2024\nCompte;0042\n\nDate;Libellé;Débit;Crédit;Solde\n${rows.join('\n')}\n`;
    const { chunks, text } = await parser.parse('csv', csv);
    expect(chunks[0]!.text).toMatch(/^Relevé annuel 2024\nCompte 0042/);
    const tables = chunks.filter(({ chunkType }) => chunkType === 'table');
    expect(tables.length).toBeGreaterThan(5);
    expect(tables.every((chunk) => chunk.text.includes('| Date | Libellé | Débit | Crédit | Solde |'))).toBe(
      true,
    );
    expect(text.match(/Loyer \d+/g)).toHaveLength(400);
    const narrow = await parser.parse('csv', 'Fees\nship;fee\nbarque;9\nbrig\n');
    expect(narrow.text).toMatch(
      /^Fees\s+\| ship \| fee \|\n\| --- \| --- \|\n\| barque \| 9 \|\n\| brig \|$/,
    );
    const remark = await parser.parse('csv', 'ship,fee\nbarque,9,a,remark,of,the,clerk\nbrig,7\n');
    expect(remark.text).toMatch(/^\| ship \| fee \|\n\| --- \| --- \|\n/);
  });

  it.each([
    [',2023,,2024,\nCity,Q1,Q2,Q1,Q2\nParis,1,2,3,4\n', '|  | 2023 |  | 2024 |  |'],
    ['Item,Price,,,\nPen,1,a,b,c\nInk,2,d,e,f\n', '| Item | Price |  |  |  |'],
  ])('keep what names their columns as the header: %j', async (table, header) => {
    const { text, chunks } = await parser.parse('csv', table);
    expect(chunks).toHaveLength(1);
    expect(text.split('\n')[0]).toBe(header);
    const titled = await parser.parse(
      'csv',
      'Customer,ACME\nSince,2020\nCity,2021,2022,2023,2024\nBath,1,2,3,4\n',
    );
    expect(titled.text).toMatch(/^Customer ACME\nSince 2020\s+\| City \| 2021 /);
  });

  it('refuse more columns or rows than are allowed, and a quote that never closes', async () => {
    const wide = Array.from({ length: 100_000 }, (_, i) => `c${i}`).join(',');
    await expect(parser.parse('csv', `${wide}\n`)).rejects.toMatchObject(tooComplex('maxColumns'));
    const long = parser.parse('csv', 'a,b\n'.repeat(20), { limits: { maxRows: 10 } });
    await expect(long).rejects.toMatchObject(tooComplex('maxRows'));
    await expect(parser.parse('csv', `a,b\n"never closed,${'x\n'.repeat(100)}`)).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
      message: expect.stringMatching(/from line \d+ on/),
    });
  });

  it.each([
    ['Café;1,50\nThé;2,30\nCroissant;1,10\n', ['Thé', '2,30']],
    ['1,5;2,5;3,5\n4,5;5,5;6,5\n7,5;8,5;9,5\n', ['4,5', '5,5', '6,5']],
    ['a;1,5;2,5\nb;3,5;4,5\n', ['b', '3,5', '4,5']],
    ['1,2,3\n4,5,6\n', ['4', '5', '6']],
  ])('keeps decimal commas whole: %j', async (table, row) => {
    expect((await parser.parse('csv', table)).text).toContain(`| ${row.join(' | ')} |`);
  });

  it('give nothing for an empty file and text for one column', async () => {
    expect(await parser.parse('csv', '')).toMatchObject({ chunkCount: 0 });
    expect((await parser.parse('csv', 'one\ntwo\n')).text).toBe('one\ntwo');
  });
});

describe('files that are packed in as base64', () => {
  const bytes = Buffer.from(Uint8Array.from({ length: 1024 * 1024 }, (_, i) => (i * i * 31 + i) >> 3));
  const packed = bytes.toString('base64');
  const wrapped = packed.match(/.{1,76}/g)!.join('\n');
  const mark = '[1.00 MB of data]';
  const short = packed.slice(0, 300);
  const sequence = 'MKVLAT'.repeat(300);
  const warned = { warnings: ['Data that is packed in the file was left out.'] };

  it.each([
    ['in one line', packed],
    ['wrapped', wrapped],
  ])('are left out of XML: %s', async (_, data) => {
    const { text, report } = await parser.parse(
      'xml',
      `<invoice><id>4711</id><pdf>\n${data}\n</pdf><key>${short}</key><protein>${sequence}</protein></invoice>`,
      { chunking: { chunkSize: 8192, overlapRate: 0 } },
    );
    expect(text.split('\n')).toEqual(['id: 4711', `pdf: ${mark}`, `key: ${short}`, `protein: ${sequence}`]);
    expect(report).toMatchObject(warned);
    const attribute = await parser.parse('xml', `<a><b pdf="${data}">said</b></a>`);
    expect(attribute.text).toBe(`b/@pdf: ${mark}\nb: said`);
  });

  it.each([
    ['in one line', packed],
    ['wrapped', wrapped],
  ])('are left out of JSON, in lines as well: %s', async (_, data) => {
    const record = { id: 4711, pdf: data, key: short, protein: sequence };
    const said = ['id: 4711', `pdf: ${mark}`, `key: ${short}`, `protein: ${sequence}`];
    for (const kind of ['json', 'jsonl'] as const)
      for (const json of [JSON.stringify(record), JSON.stringify(record).replaceAll('/', '\\/')]) {
        const { text, report } = await parser.parse(kind, json, {
          chunking: { chunkSize: 8192, overlapRate: 0 },
        });
        expect(text.trim().split('\n')).toEqual(said);
        expect(report).toMatchObject(warned);
      }
    const uri = await parser.parse('json', JSON.stringify({ image: `data:image/png;base64,${packed}` }));
    expect(uri.text).toBe(`image: data:image/png;base64,${mark}`);
  });

  it('are left out of JSON that is larger than a tree may be', async () => {
    const large = JSON.stringify({ pdf: packed.repeat(13), note: 'the mill' });
    expect(await parser.parse('json', large)).toMatchObject({
      text: 'pdf: [13.00 MB of data]\nnote: the mill',
    });
    const cut = await parser.parse('json', `{"pdf": "${packed.repeat(2)}`);
    expect(cut.text).toBe('{"pdf": "[2.00 MB of data]');
  });

  it('are found alike, wherever fragments are cut', async () => {
    const given = `x ${packed.slice(0, 1500)} y ${short} ${packed.slice(0, 1024)}`;
    async function* inFragments(size: number): AsyncGenerator<string> {
      for (let at = 0; at < given.length; at += size) yield given.slice(at, at + size);
    }
    for (const size of [1, 7, 1000, 1024, 1503, 5000]) {
      const parts: string[] = [];
      for await (const part of withoutPackedRuns(inFragments(size))) parts.push(part);
      expect(parts.join('')).toBe(`x [1.10 KB of data] y ${short} [768.00 B of data]`);
    }
  });
});

describe('JSON', () => {
  it('becomes lines that say where a value stands, numbers as they are written', async () => {
    const { text } = await parser.parse(
      'json',
      '{"owner":{"name":"Ada","tags":["mill","water"]},"parts":[{"id":12345678901234567890},{"price":1.10,"gone":null}]}',
    );
    expect(text.split('\n')).toEqual([
      'owner.name: Ada',
      'owner.tags: mill, water',
      'parts[0].id: 12345678901234567890',
      'parts[1].price: 1.10',
      'parts[1].gone: null',
    ]);
  });

  it('is read as text when it is none, and refused when it nests too deep', async () => {
    expect((await parser.parse('json', '{"a": millstone')).text).toContain('millstone');
    // A long name is said once, and not in front of each of its values.
    const long = JSON.stringify({
      [`start${'x'.repeat(5_000)}`]: { last: Array.from({ length: 500 }, () => ['v']) },
    });
    const { text: repeated } = await parser.parse('json', long);
    expect(repeated).toContain('startxxx');
    expect(repeated).toContain('.last[499]: v');
    expect(repeated.length).toBeLessThan(40 * long.length);
    const xml = `<r><start${'x'.repeat(5_000)}>${'<last>v</last>'.repeat(500)}</start${'x'.repeat(5_000)}></r>`;
    const { text: elements } = await parser.parse('xml', xml);
    expect(elements).toContain('/last: v');
    expect(elements.length).toBeLessThan(20 * xml.length);
    const deep = parser.parse('json', '['.repeat(100_000) + ']'.repeat(100_000));
    await expect(deep).rejects.toMatchObject(tooComplex('maxNesting'));
  });

  it('keeps no character that no store takes, and no half of one', async () => {
    const escaped = '{"note":"a\\u0000b \\ud83dc \\ud83d\\udd25 \\u0007"}';
    for (const kind of ['json', 'jsonl'] as const)
      expect((await parser.parse(kind, escaped)).text.trim()).toBe('note: a b  c 🔥');
    const long = JSON.stringify({ note: `x${'🔥'.repeat(400_000)}` }).padEnd(17_000_000);
    const { text } = await parser.parse('json', long);
    expect(text.match(/🔥/gu)).toHaveLength(400_000);
  });

  it('comes in lines as well, of which one may be broken', async () => {
    const { text } = await parser.parse('jsonl', '{"a":{"b":1}}\nbroken {\n{"a":"two"}\n');
    expect(text).toBe('a.b: 1\n\nbroken {\n\na: two');
  });

  it('is read within its memory when it is larger than a tree may be', async () => {
    const item = `{"word":"${'flour '.repeat(20)}"},\n`;
    const bytes = `[${item.repeat(200_000)}{"word":"the last one"}]`;
    const { chunks } = await parser.parse('json', bytes, { chunking: { chunkSize: 4096, overlapRate: 0 } });
    expect(chunks.at(-1)!.text).toContain('the last one');
  }, 120_000);
});

it('text, HTML and XML in ISO-2022-JP are decoded, and a log with escapes stays as it is', async () => {
  const said = '\u001b$B$3$s$K$A$O!"$U$k$$\u001b(B';
  const decoded = { encoding: 'iso-2022-jp', text: 'こんにちは、ふるい' };
  expect(await parser.parse('txt', said)).toMatchObject(decoded);
  expect(await parser.parse('html', `<meta charset="iso-2022-jp"><p>${said}</p>`)).toMatchObject(decoded);
  expect(await parser.parse('xml', `<a>${said}</a>`)).toMatchObject(decoded);
  const log = await parser.parse('txt', '\u001b[31mred\u001b(B\u001b[m costs 5 $B');
  expect(log).toMatchObject({ encoding: 'utf-8' });
});

it('a long title is not cut within a character', async () => {
  const title = `x${'🔥'.repeat(120)}`;
  const { chunks } = await parser.parse('html', `<h1>${title}</h1><p>The mill.</p>`);
  expect(chunks[0]!.headingPath).toEqual([`x${'🔥'.repeat(99)}`]);
});

describe('XML and SVG', () => {
  it('give their text with its path, and attributes', async () => {
    const { text } = await parser.parse(
      'xml',
      '<?xml version="1.0"?><mill xmlns="urn:x"><part id="p1"><name>Stone &amp; shaft</name><![CDATA[raw <b>]]></part></mill>',
    );
    expect(text.split('\n')).toEqual(['part/@id: p1', 'part/name: Stone & shaft', 'part: raw <b>']);
  });

  it.each([
    [
      'The <i>Quercus</i> tree grows in H<sub>2</sub>O, see <xref ref="1">Fig. 1</xref>.',
      ['p: The Quercus tree grows in H2O, see Fig. 1.', 'p/xref/@ref: 1'],
    ],
    ['<b>Note</b> that <i>all</i> is said.', ['p: Note that all is said.']],
    ['<b>Note</b>: all is said.', ['p: Note: all is said.']],
    [
      'Tools:<ul><li>the <b>sieve</b></li><li>wire</li></ul> and more <i>of it</i>',
      ['p: Tools:', 'p/ul/li: the sieve', 'p/ul/li: wire', 'p: and more of it'],
    ],
    ['12 Mill Street<city>Bath</city><zip>BA1</zip>', ['p: 12 Mill Street Bath BA1']],
    ['<label>1</label>First', ['p/label: 1', 'p: First']],
    ['<name>Ada</name>\n<age>36</age>\n', ['p/name: Ada', 'p/age: 36']],
  ])('have a sentence with marked words in one line: %s', async (content, lines) => {
    const { text } = await parser.parse('xml', `<doc><p>${content}</p><q>The end.</q></doc>`);
    expect(text.split('\n')).toEqual([...lines, 'q: The end.']);
  });

  it('expand no entity and ask for no file', async () => {
    const bomb = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "secret${'x'.repeat(1000)}"><!ENTITY c "&b;&b;&b;">
      <!ENTITY f SYSTEM "file:///etc/passwd">]><a><t>before &c;&f; after</t></a>`;
    expect((await parser.parse('xml', bomb)).text).toBe('t: before &c;&f; after');
  });

  it('read the encoding that they say, and what is cut off as far as it goes', async () => {
    const latin = Buffer.from(
      '<?xml version="1.0" encoding="iso-8859-1"?><a><b>Nîmes été</b><c>cut o',
      'latin1',
    );
    expect((await parser.parse('xml', latin)).text).toBe('b: Nîmes été\nc: cut o');
  });

  it.each([
    ['utf-16', 'windows-1252', 'Nîmes, été : 5 €'],
    ['ucs-2', 'windows-1252', 'Nîmes, été : 5 €'],
    ['utf-7', 'windows-1252', 'Nîmes, été : 5 €'],
    ['hex', 'windows-1252', 'Nîmes, été : 5 €'],
    ['base64', 'windows-1252', 'Nîmes, été : 5 €'],
    ['binary', 'windows-1252', 'Nîmes, été : 5 €'],
    ['iso-8859-1', 'windows-1252', 'l’été – 5 €'],
    ['us-ascii', 'windows-1252', 'l’été – 5 €'],
    ['iso-8859-9', 'windows-1254', 'ışık “beş” – 5 €'],
    ['cp850', 'cp850', 'Nîmes, été'],
    ['koi8-r', 'koi8-r', 'да'],
  ])('that say %s are read in %s', async (declared, meant, said) => {
    const bytes = iconv.encode(`<?xml version="1.0" encoding="${declared}"?><a><b>${said}</b></a>`, meant);
    expect(await parser.parse('xml', bytes)).toMatchObject({ encoding: meant, text: `b: ${said}` });
    const page = iconv.encode(`<meta charset="${declared}"><p>${said}</p>`, meant);
    expect(await parser.parse('html', page)).toMatchObject({ encoding: meant, text: said });
  });

  it('lose nothing behind an & that begins no reference', async () => {
    const whole = { chunking: { chunkSize: 8192, overlapRate: 0 } };
    const items = Array.from(
      { length: 200 },
      (_, i) => `<item><name>no. ${i} &lt;&#65;&#x42;&gt;</name></item>`,
    );
    const names = items.map((_, i) => `item/name: no. ${i} <AB>`);
    const bare = '<item><name>Smith & Sons</name><at>a?b&c=1;d&&amp;e&mill;</at></item>';
    const expected = ['item/name: Smith & Sons', 'item/at: a?b&c=1;d&&e&mill;', ...names];
    const { text, report } = await parser.parse('xml', `<list>${bare}${items.join('')}</list>`, whole);
    expect(text.split('\n')).toEqual(expected);
    expect(report).toMatchObject({ degraded: false, warnings: [] });
  });

  it('have their bare & mended alike, wherever fragments are cut', () => {
    const given =
      '<a b="1&c">x & y&amp;<!-- & --><![CDATA[ & <!-- ]]>&#65;&&lt;<?p & ?>&' + `${'n'.repeat(40)};</a>&`;
    const mended =
      '<a b="1&amp;c">x &amp; y&amp;<!-- & --><![CDATA[ & <!-- ]]>&#65;&amp;&lt;<?p & ?>&amp;' +
      `${'n'.repeat(40)};</a>&amp;`;
    for (let cut = 0; cut <= given.length; cut++) {
      const mender = createReferenceMender();
      const parts = [mender.write(given.slice(0, cut)), mender.write(given.slice(cut)), mender.end()];
      expect(parts.join('')).toBe(mended);
    }
    const mender = createReferenceMender();
    expect([...given].map((sign) => mender.write(sign)).join('') + mender.end()).toBe(mended);
  });

  it('say so where they end within a tag or a comment', async () => {
    const { text, report } = await parser.parse('xml', '<a><b>read</b><!NOTE x><c>lost</c></a>');
    expect(text).toBe('b: read');
    expect(report).toMatchObject({ degraded: true, reasons: [expect.stringContaining('may be missing')] });
    const { report: prose } = await parser.parse('xml', '<a><b>if x <y and z> w</b></a>');
    expect(prose).toMatchObject({ degraded: false, warnings: [expect.stringContaining('not well formed')] });
  });

  it('are refused when they nest too deep or hold no element', async () => {
    const deep = parser.parse('xml', `${'<a>'.repeat(50_000)}x`);
    await expect(deep).rejects.toMatchObject(tooComplex('maxNesting'));
    await expect(parser.parse('xml', 'no markup')).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('show the words of a picture, not how it looks', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg"><title>Plan</title><style>.a{fill:red}</style><script>x()</script>' +
      '<g><text class="a">Mill <tspan>wheel</tspan></text><path d="M0 0"/></g></svg>';
    expect((await parser.parse('svg', svg)).text).toBe('Plan\nMill\nwheel');
    const prefixed = svg.replace('xmlns', 'xmlns:s').replaceAll(/<(\/?)(?=[a-z])/g, '<$1s:');
    expect((await parser.parse('svg', prefixed)).text).toBe('Plan\nMill\nwheel');
  });
});

it('source code stays as it is written', async () => {
  const source = `import { x } from 'y';\n\n${'function wheel() {\n  return 1;\n}\n\n'.repeat(600)}`;
  const { chunks } = await parser.parse('code', source);
  expect(chunks.every(({ chunkType }) => chunkType === 'code')).toBe(true);
  expect(chunks[0]!.text).toMatch(/^import \{ x \} from 'y';\n\nfunction wheel\(\) \{\n {2}return 1;\n\}/);
  expect(chunks.flatMap(({ text }) => text.match(/function wheel/g) ?? [])).toHaveLength(600);
});
