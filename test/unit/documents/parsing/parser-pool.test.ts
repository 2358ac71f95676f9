import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import iconv from 'iconv-lite';
import { readChunkFile } from '../../../../activities/documents/parsing/chunk-file.js';
import type { ParsedChunk } from '../../../../activities/documents/parsing/chunk.js';
import type { FileKind } from '../../../../activities/documents/parsing/file-types.js';
import { defaultParseLimits } from '../../../../activities/documents/parsing/parse-limits.js';
import type { ParseJob } from '../../../../activities/documents/parsing/parser-messages.js';
import { createParserPool } from '../../../../activities/documents/parsing/parser-pool.js';
import type {
  ParsedDocument,
  ParserPool,
  ParseRequest,
} from '../../../../activities/documents/parsing/parser-pool.js';
import { startParserProcess } from '../../../../activities/documents/parsing/parser-process.js';
import { untilLetGo } from '../../../support/collect-garbage.js';
import { samplePages } from '../../../support/documents/sample-pages.js';
import { writeDocx, writeDocxBomb } from '../../../support/documents/write-docx.js';
import { writePdf } from '../../../support/documents/write-pdf.js';
import { until } from '../../../support/until.js';

const ALLOWED = new Set([
  'PATH',
  'HOME',
  'TMPDIR',
  'TZ',
  'LANG',
  'LC_ALL',
  'MIMALLOC_ARENA_EAGER_COMMIT',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
]);
const endlessPdf = writePdf(samplePages(1), { selfRecursiveForm: true });

let directory: string;
let pool: ParserPool;
let pids: number[] = [];

function onStart(process: { pid: number | undefined }): void {
  pids.push(process.pid!);
}

let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tamis-parsing-'));
  pool = createParserPool({ size: 2, onStart });
});
afterAll(async () => {
  await pool.close();
  expect(pids.filter(isAlive)).toEqual([]);
  await rm(directory, { recursive: true, force: true });
});

async function request(
  kind: FileKind,
  bytes: Buffer | string,
  more: Partial<ParseRequest> = {},
): Promise<ParseRequest> {
  const path = join(directory, `${count++}.${kind}`);
  await writeFile(path, bytes);
  const chunking = { chunkSize: 512, overlapRate: 0.2 };
  return { path, kind, filename: 'upload', outputPath: `${path}.jsonl`, chunking, ...more };
}

async function parse(
  kind: FileKind,
  bytes: Buffer | string,
  more: Partial<ParseRequest> = {},
  on = pool,
): Promise<ParsedDocument & { chunks: ParsedChunk[]; text: string }> {
  const parsed = await on.parseAndChunk(await request(kind, bytes, more));
  const chunks: ParsedChunk[] = [];
  for await (const chunk of readChunkFile(parsed.outputPath)) chunks.push(chunk);
  expect(chunks).toHaveLength(parsed.chunkCount);
  return { ...parsed, chunks, text: chunks.map((chunk) => chunk.text).join('\n') };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that nobody has waited for yet is dead all the same.
    return process.platform !== 'linux' || !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function diesWithin(pid: number, ms: number): Promise<boolean> {
  for (const until = Date.now() + ms; Date.now() < until; await new Promise((done) => setTimeout(done, 20))) {
    if (!isAlive(pid)) return true;
  }
  return false;
}

describe('text', () => {
  const french =
    'Le tamis sépare la farine du son, où qu’il soit tenu ; à l’œil nu, on n’y voit rien. '.repeat(3);
  const utf16 = (text: string, mark: string): Buffer => Buffer.from(mark + text, 'utf16le');

  it.each([
    ['utf-8', Buffer.from(french)],
    ['utf-8', Buffer.from(`\ufeff${french}`)],
    ['utf-16le', utf16(french, '\ufeff')],
    ['utf-16le', utf16(french, '')],
    ['utf-16be', utf16(french, '\ufeff').swap16()],
  ])('reads %s', async (encoding, bytes) => {
    const parsed = await parse('txt', bytes);
    expect(parsed).toMatchObject({ encoding, chunkCount: 1, pages: null });
    expect(parsed.text).toBe(french.trim());
  });

  it('reads Latin text by statistics, also when its first accent comes late', async () => {
    const text = 'Où est passé le gâteau à la crème brûlée ? Il a été mangé par un élève très affamé. ';
    for (const bytes of [
      Buffer.from(text, 'latin1'),
      Buffer.from('plain words. '.repeat(9000) + text, 'latin1'),
    ]) {
      expect((await parse('txt', bytes)).text).toContain(text.trim());
    }
  });

  it.each([
    ['windows-1252', 'Réunion à 14h'],
    ['windows-1252', 'Ça coûte 5 £ à Noël'],
    ['windows-1252', 'Prix : 25 € TTC'],
    ['windows-1252', '§ 5 Abs. 2'],
    ['windows-1252', 'café fermé'],
    ['windows-1252', 'Température 20 °C'],
    ['windows-1252', 'Où êtes-vous ?'],
    ['windows-1252', 'Größe: 12 µm'],
    ['windows-1252', 'Ångström'],
    ['windows-1252', 'È più facile di così, però è già tardi.'],
    ['windows-1252', 'Täällä on ääni öisin.'],
    ['windows-1252', 'Le type «\u00a0sieve\u00a0» est incompatible avec «\u00a0mill\u00a0».'],
    ['windows-1251', 'Клапан открывается при четырёх барах.'],
    ['windows-1251', `id;пол;сумма\n${'n;м;17\nn;ж;34\n'.repeat(12)}n;м;17`],
    ['koi8-r', 'Клапан открывается при четырёх барах.'],
    ['windows-1253', 'Η βαλβίδα ανοίγει στα τέσσερα μπαρ.'],
    ['windows-1255', 'השסתום נפתח בארבעה בר.'],
    ['windows-1254', 'Öğretmenler için güneş ışığı çok önemlidir ve şehir büyüktür.'],
    ['windows-1250', 'Zażółć gęślą jaźń. Zawór otwiera się przy czterech barach.'],
    ['shift_jis', '弁は四バールで開きます。'],
    ['shift_jis', 'カタカナ'],
    ['gb18030', '阀门在四巴时打开。'],
    ['euc-kr', '안녕하세요'],
  ])('reads a short text in %s: %s', async (encoding, said) => {
    expect((await parse('txt', iconv.encode(said, encoding))).text).toBe(said);
  });

  it('reads UTF-8 with a wrong byte in it as UTF-8, and says so only where there are many', async () => {
    const [byte, letter] = [Buffer.from([0xff]), Buffer.from('é', 'latin1')];
    const long = french.repeat(400);
    for (const bytes of [
      [french, byte, french],
      [french, letter, ` ${long}`],
      ['plain words. '.repeat(9000), french, byte, long],
      // A character is cut where the sample ends.
      ['x', byte, '水'.repeat(40_000)],
    ]) {
      const whole = Buffer.concat(bytes.map((part) => Buffer.from(part as string)));
      const { encoding, text, report } = await parse('txt', whole);
      expect(encoding).toBe('utf-8');
      expect(text).toContain('\ufffd');
      expect(text).toMatch(/qu’il soit tenu|水水/);
      expect(text).not.toMatch(/Ã|â€/);
      expect(report!.degraded).toBe(false);
    }
    const page = `<meta charset="iso-8859-1"><p>${french} \u0001</p>`;
    const declared = Buffer.from(Buffer.from(page).map((code) => (code === 1 ? 0xe9 : code)));
    expect(await parse('html', declared)).toMatchObject({ encoding: 'utf-8' });
  });

  it('reads a log with some zeros in it', async () => {
    const log = `${'a line of a log\n'.repeat(500)}${'\0'.repeat(12)}\nthe last needle\n`;
    expect((await parse('txt', log)).text).toContain('the last needle');
    await expect(parse('txt', 'a short\0text')).rejects.toMatchObject({ code: 'UNSUPPORTED_CONTENT' });
    const many = `${'a line of a log\n'.repeat(500)}${'\0'.repeat(100)}`;
    await expect(parse('txt', many)).rejects.toMatchObject({ code: 'UNSUPPORTED_CONTENT' });
  });

  it('keeps the line separators of Unicode, in a file that any line reader reads', async () => {
    const said = 'The sieve\u2028of the mill\u2029is new.';
    const { text, outputPath, chunkCount } = await parse('txt', said);
    expect(text).toBe(said);
    const written = await readFile(outputPath, 'utf8');
    expect(written).not.toMatch(/[\u2028\u2029]/);
    expect(written.split(/[\n\u2028\u2029]/)).toHaveLength(chunkCount + 1);
    const raw = `${outputPath}.raw`;
    await writeFile(raw, `${JSON.stringify({ text: said })}\n`);
    const read: ParsedChunk[] = [];
    for await (const chunk of readChunkFile(raw)) read.push(chunk);
    expect(read).toEqual([{ text: said }]);
  });

  it('refuses binary data', async () => {
    const noise = Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 256));
    const late = Buffer.concat([Buffer.from('text '.repeat(20_000)), noise, noise]);
    for (const bytes of [noise, late]) {
      await expect(parse('txt', bytes)).rejects.toMatchObject({ code: 'UNSUPPORTED_CONTENT' });
    }
  });

  it('gives no chunk for a file without text', async () => {
    expect(await parse('txt', '')).toMatchObject({ chunkCount: 0, tokens: 0, chunks: [] });
    expect(await parse('md', ' \n\n\t\n')).toMatchObject({ chunkCount: 0 });
    expect(await parse('html', '<body><script>x</script></body>')).toMatchObject({ chunkCount: 0 });
    expect(await parse('pdf', writePdf([[]]))).toMatchObject({ chunkCount: 0, pages: 1 });
  });

  it('keeps every word of a file of many chunks, with offsets', async () => {
    const words = Array.from(
      { length: 60_000 },
      (_, i) => `word${i}${i % 9 ? '' : '.'}${i % 400 ? '' : '\r\n\r\n'}`,
    );
    const source = words.join(' ');
    const { chunks } = await parse('txt', source, { chunking: { chunkSize: 256, overlapRate: 0 } });
    const plain = source.replace(/\r\n/g, '\n');
    expect(
      chunks
        .map((c) => c.text)
        .join(' ')
        .split(/\s+/),
    ).toEqual(plain.split(/\s+/));
    for (const { text, charStart } of chunks) {
      expect(plain.startsWith(text.split(/\s/, 1)[0]!, charStart)).toBe(true);
    }
  });
});

describe('Markdown', () => {
  it('keeps the source text under its heading path', async () => {
    const long = 'A sieve of *steel* wire. '.repeat(20);
    const { chunks } = await parse(
      'md',
      `# The *guide*\n\n${long}\n\n## Care\n\n${long}\n\n\`\`\`js\n# no\n\`\`\`\n`,
    );
    expect(chunks.map((c) => c.headingPath)).toEqual([['The guide'], ['The guide', 'Care']]);
    expect(chunks[0]!.text).toMatch(/^# The \*guide\*\n\nA sieve of \*steel\* wire\./);
    expect(chunks[1]!.text).toMatch(/```js\n# no\n```$/);
  });
});

describe('HTML', () => {
  it('becomes Markdown without the furniture of the page', async () => {
    const { chunks } = await parse(
      'html',
      `<html><head><title>T</title><style>p{}</style></head><body><nav>Menu</nav><header>Banner</header>
      <h1>Guide</h1><p>Caf&eacute; <a href="https://x.test/long">au lait</a>, 2*3.</p>
      <table><tr><td>Name</td><td>Mesh</td></tr><tr><td>Alpha</td><td>1|2</td></tr></table>
      <script>evil()</script><footer>Imprint</footer></body></html>`,
    );
    expect(chunks).toHaveLength(1);
    expect(chunks[0]!.headingPath).toEqual(['Guide']);
    expect(chunks[0]!.text).toBe(
      '# Guide\n\nCafé au lait, 2*3.\n\n| Name | Mesh |\n| - | - |\n| Alpha | 1\\|2 |',
    );
  });

  it('reads the encoding that the page declares', async () => {
    const page = '<meta charset="iso-8859-1"><p>Une été brûlant à Orléans</p>';
    expect((await parse('html', Buffer.from(page, 'latin1'))).text).toBe('Une été brûlant à Orléans');
  });

  it.each([
    ['div', '</div>'],
    ['b', ''],
    ['table><tr><td', ''],
    ['ul><li', ''],
    ['blockquote', '</blockquote>'],
  ])('indexes the text inside 50,000 nested <%s>', async (tag, close) => {
    const deep = `<h1>Top</h1><p>before &amp; above</p>${`<${tag}>`.repeat(50_000)}the deep text${close.repeat(50_000)}<p>after`;
    const { text } = await parse('html', deep);
    for (const part of ['# Top', 'before & above', 'the deep text', 'after']) expect(text).toContain(part);
  });

  it('takes many formatting elements that overlap', async () => {
    const { text } = await parse('html', `${'<b><i><a>x</b></i></a>'.repeat(5000)}<p>end`);
    expect(text).toContain('end');
  });
});

describe('PDF', () => {
  it('gives pages, headings and tables, and running headers once', async () => {
    const progress: unknown[] = [];
    const { chunks, pages, text } = await parse('pdf', writePdf(samplePages(4)), {
      onProgress: (p) => progress.push(p),
    });
    expect(pages).toBe(4);
    expect([...new Set(chunks.map((c) => c.page))]).toEqual([1, 2, 3, 4]);
    for (const number of [1, 2, 3, 4]) {
      const page = chunks.filter((c) => c.page === number);
      expect(page.map((c) => c.headingPath)).toContainEqual([
        `Chapter ${number}: meshes`,
        `Care of mesh ${number}`,
      ]);
      const own = page.map((c) => c.text).join('\n');
      expect(own).toContain(`Line 5 on page ${number} speaks of brushes and soap`);
      expect(own).toContain('| Alpha | 12 | 3.50 |');
    }
    expect(text.match(/Sieve Handbook|Page \d of/g)).toEqual(['Sieve Handbook']);
  });

  it('reads beyond one batch of pages', async () => {
    const { chunks, pages } = await parse('pdf', writePdf(samplePages(120)));
    expect(pages).toBe(120);
    expect(new Set(chunks.map((c) => c.page)).size).toBe(120);
    expect(chunks.at(-1)!.text).toContain('on page 120');
  });

  it('takes what liteparse leaves out from pdf.js', async () => {
    const turned = writePdf(samplePages(1))
      .toString('latin1')
      .replace(/1 0 0 1 60 (\d+)\.\d+/g, (all, y) =>
        `0 1 -1 0 ${Math.round(900 - y) / 2} 60`.padEnd(all.length),
      );
    const { text } = await parse('pdf', Buffer.from(turned, 'latin1'));
    expect(text).toContain('Line 5 on page 1 speaks of woven wire');
  });

  const good = writePdf(samplePages(3));
  it.each([
    ['with a password', writePdf(samplePages(2), { userPassword: 'secret' }), 'FILE_ENCRYPTED'],
    ['cut off before its first page', good.subarray(0, 200), 'FILE_CORRUPT'],
    ['of nothing but its signature', Buffer.from('%PDF-1.7\n'), 'FILE_CORRUPT'],
    [
      'of garbage between its marks',
      Buffer.from(`%PDF-1.7\n${'garbage '.repeat(5000)}\n%%EOF`),
      'FILE_CORRUPT',
    ],
    ['without a signature', Buffer.from('no PDF at all'), 'FILE_CORRUPT'],
  ])('refuses one %s', async (_, bytes, code) => {
    await expect(parse('pdf', bytes)).rejects.toMatchObject({ code });
  });

  it('opens one that has only an owner password, and one with bytes before it', async () => {
    expect((await parse('pdf', writePdf(samplePages(1), { userPassword: '' }))).chunkCount).toBeGreaterThan(
      0,
    );
    expect((await parse('pdf', Buffer.concat([Buffer.alloc(4000, 32), good]))).pages).toBe(3);
  });

  it('refuses one with too many pages', async () => {
    await expect(parse('pdf', good, { limits: { maxPages: 2 } })).rejects.toMatchObject({
      code: 'FILE_TOO_COMPLEX',
      details: { limit: 'pages', max: 2, found: 3 },
    });
  });
});

describe('Word', () => {
  it('gives headings and tables', async () => {
    const { chunks } = await parse(
      'docx',
      writeDocx([
        { heading: 'Guide', level: 1 },
        { paragraph: 'Sieves & <meshes>. '.repeat(20) },
        { heading: 'Sizes', level: 2 },
        {
          table: [
            ['Name', 'Mesh'],
            ['Alpha', '12'],
          ],
        },
      ]),
    );
    expect(chunks.map((c) => [c.headingPath, c.page])).toEqual([
      [['Guide'], null],
      [['Guide', 'Sizes'], null],
    ]);
    expect(chunks[0]!.text).toContain('Sieves & <meshes>.');
    expect(chunks[1]!.text).toBe('## Sizes\n\n| Name | Mesh |\n| - | - |\n| Alpha | 12 |');
  });

  const docx = writeDocx([{ paragraph: 'Hello' }]);
  it.each([
    ['that unpacks a thousandfold', () => writeDocxBomb(60_000_000), 'FILE_TOO_COMPLEX'],
    ['that lies about its size', () => writeDocxBomb(60_000_000, 1000), 'FILE_TOO_COMPLEX'],
    [
      'with broken XML',
      () => writeDocx([], [{ name: 'word/document.xml', content: '<w:document><<' }]),
      'FILE_CORRUPT',
    ],
    ['cut off', () => docx.subarray(0, docx.length - 40), 'FILE_CORRUPT'],
    ['with a password', () => Buffer.from('d0cf11e0a1b11ae100000000', 'hex'), 'FILE_ENCRYPTED'],
  ])('refuses one %s', async (_, bytes, code) => {
    await expect(parse('docx', bytes())).rejects.toMatchObject({ code });
  });

  it('refuses one whose document has another name than markup is checked by', async () => {
    const bytes = writeDocx([{ paragraph: 'x' }], [], 'word/document.bin');
    await expect(parse('docx', bytes)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    expect((await parse('docx', writeDocx([{ paragraph: 'x' }], [], 'word/other.xml'))).text).toBe('x');
  });

  it('refuses one of too many parts', async () => {
    const parts = Array.from({ length: 50 }, (_, i) => ({ name: `word/media/${i}.png`, content: 'x' }));
    const refused = parse('docx', writeDocx([{ paragraph: 'x' }], parts), {
      limits: { maxArchiveEntries: 20 },
    });
    await expect(refused).rejects.toMatchObject({ code: 'FILE_TOO_COMPLEX' });
  });
});

describe('tables', () => {
  const cells = (text: string): number => text.split('|').length;

  it.each([
    ['columns', '<table><tr><td colspan="1000000000">wide</td></tr><tr><td>next</td></tr></table>'],
    ['rows', '<table><tr><td rowspan="1000000000" colspan="1000000000">wide</td></tr><tr><td>next</table>'],
    ['both, often', `<table>${'<tr><td colspan=1000 rowspan=65534>wide</td></tr>'.repeat(2000)}next</table>`],
    ['all tables', '<table><tr><td colspan=1000>wide</td></tr></table>'.repeat(2000) + 'next'],
    [
      'a row',
      `<table><tr>${'<td>wide</td>'.repeat(5000)}</tr>${'<tr><td>next</td></tr>'.repeat(5000)}</table>`,
    ],
  ])('keeps what spans %s make within bounds', async (_, html) => {
    const { text } = await parse('html', html, { limits: { timeoutMs: 30_000 } });
    expect(text).toContain('wide');
    expect(text).toContain('next');
    expect(cells(text)).toBeLessThan(500_000);
  });

  it('keeps spans that a page may have', async () => {
    const { text } = await parse(
      'html',
      '<table><tr><th>a<th>b<th>c</tr><tr><td colspan="2">ab<td>c</tr><tr><td rowspan="2">d<td>e<td>f</tr><tr><td>g<td>h</tr></table>',
    );
    expect(text.split('\n').map((line) => line.replace(/\s+/g, ''))).toEqual([
      '|a|b|c|',
      '|-|-|-|',
      '|ab||c|',
      '|d|e|f|',
      '||g|h|',
    ]);
  });

  it('bounds those of a Word document', async () => {
    const body = `<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`;
    const { text } = await parse('docx', writeDocx([{ xml: body }]), { limits: { timeoutMs: 30_000 } });
    expect(text).toContain('wide');
  });
});

describe('tags', () => {
  it('reads tags whose quotes never close in linear time', async () => {
    const units = ['<a ="" =">', `<a =">" ="`, '<a b="', `<a ='>`, '<a ="><'];
    for (const unit of units) {
      const html = unit.repeat(Math.ceil(1_000_000 / unit.length)) + '<p>end</p>';
      const { text } = await parse('html', html, { limits: { timeoutMs: 30_000, maxNesting: 2 } });
      expect(text).toBeDefined();
    }
  });
});

describe('limits', () => {
  let own: ParserPool;
  afterEach(() => own.close());
  const sound = async (): Promise<void> =>
    expect((await parse('txt', 'still here', {}, own)).text).toBe('still here');

  it('hands none of our variables to its processes but those they need', async () => {
    pids = [];
    process.env['TAMIS_SECRET_OF_A_TEST'] = 'a secret of some length';
    own = createParserPool({ size: 1, onStart });
    await parse('html', '<p>The mill</p>', {}, own);
    delete process.env['TAMIS_SECRET_OF_A_TEST'];
    if (process.platform !== 'linux') return;
    const names = readFileSync(`/proc/${pids[0]}/environ`, 'utf8')
      .split('\0')
      .flatMap((line) => line.split('=')[0] || []);
    expect(names).toContain('PATH');
    expect(names.filter((name) => !ALLOWED.has(name))).toEqual([]);
  });

  it.each([
    ['process', 'html'],
    ['thread', 'txt'],
  ] as const)('keeps nothing of the documents that a %s has read, however many', async (_, kind) => {
    own = createParserPool({ size: 1, onStart });
    const held: WeakRef<object>[] = [];
    for (let read = 0; read < 10; read += 1) {
      const { signal } = new AbortController();
      const onProgress = (): void => undefined;
      held.push(new WeakRef(signal), new WeakRef(onProgress));
      await own.parseAndChunk(await request(kind, `mill number ${read}`, { signal, onProgress }));
    }
    // The last ones may still be on the stack.
    await untilLetGo(held, 2);
  });

  it.each([
    ['places of processes', 'html'],
    ['turns of the thread', 'txt'],
  ] as const)('gives %s to users one after the other', async (_, kind) => {
    own = createParserPool({ size: 1 });
    const ended: number[] = [];
    // Written before the first is asked for: they come in this order, and nothing is read between an end and its note.
    const requests = await Promise.all(
      [1, 1, 1, 1, 2, 3, 2].map((userId) => request(kind, 'short', { userId })),
    );
    await Promise.all(
      requests.map(async (asked) => {
        await own.parseAndChunk(asked);
        ended.push(Number(asked.userId));
      }),
    );
    expect(ended).toEqual([1, 2, 3, 1, 2, 1, 1]);
  });

  it('ends a parse that takes too long', async () => {
    pids = [];
    own = createParserPool({ size: 1, onStart, limits: { memoryMb: 16_384 } });
    const started = Date.now();
    const late = parse('pdf', endlessPdf, { limits: { timeoutMs: 300 } }, own);
    await expect(late).rejects.toMatchObject({ code: 'PARSE_TIMEOUT' });
    expect(Date.now() - started).toBeLessThan(8000);
    expect(isAlive(pids[0]!)).toBe(false);
    await sound();
  });

  it('ends a parse that takes too much memory', async () => {
    own = createParserPool({ size: 1, limits: { memoryMb: 400 } });
    await expect(parse('pdf', endlessPdf, {}, own)).rejects.toMatchObject({ code: 'FILE_TOO_COMPLEX' });
    await sound();
  });

  it.each(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL'] as const)(
    'outlives a parser that ends by %s: its document has a sentence, and what is read beside it goes on',
    async (signal) => {
      pids = [];
      own = createParserPool({ size: 2, onStart, limits: { memoryMb: 16_384 } });
      const crash = parse('pdf', endlessPdf, {}, own).catch((error: unknown) => error);
      await until('the parser runs', () => Promise.resolve(pids.length === 1));
      const beside = parse('pdf', writePdf(samplePages(40)), {}, own);
      await until('the other one runs', () => Promise.resolve(pids.length === 2));
      process.kill(pids[0]!, signal);
      expect(await crash).toMatchObject({
        code: 'PARSER_CRASHED',
        message: 'The program that reads this type of file crashed on it.',
        details: { ended: signal },
      });
      expect((await beside).pages).toBe(40);
      await sound();
      expect(isAlive(pids[0]!)).toBe(false);
    },
  );

  it('stops what was begun last when all together take too much memory, and reads it by itself', async () => {
    pids = [];
    // One process takes some 200 MB for this, four take more than is allowed together.
    own = createParserPool({ size: 4, onStart, totalMemoryMb: 400, limits: { memoryMb: 400 } });
    const bytes = writePdf(samplePages(400));
    const read = await Promise.all([1, 2, 3, 4].map(() => parse('pdf', bytes, {}, own)));
    expect(read.map(({ pages }) => pages)).toEqual([400, 400, 400, 400]);
    expect(pids.length).toBeGreaterThan(4);
    await sound();
  });

  it('passes an error of the machine on as such', async () => {
    own = createParserPool({ size: 1 });
    const missing = { ...(await request('txt', 'x')), outputPath: join(directory, 'no/such/folder/x') };
    const failure: unknown = await own.parseAndChunk(missing).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'Error', message: expect.stringContaining('ENOENT') as unknown });
  });

  it('kills the parser within a second of an abort, and those who wait at once', async () => {
    pids = [];
    own = createParserPool({ size: 1, onStart, limits: { memoryMb: 16_384 } });
    const stop = new AbortController();
    const reason = new Error('task cancelled');
    const all = [1, 2].map(() => parse('pdf', endlessPdf, { signal: stop.signal }, own));
    while (pids.length === 0) await new Promise((done) => setTimeout(done, 10));
    await new Promise((done) => setTimeout(done, 1200));
    const started = Date.now();
    stop.abort(reason);
    expect(await Promise.allSettled(all)).toEqual(all.map(() => ({ status: 'rejected', reason })));
    expect(Date.now() - started).toBeLessThan(1000);
    expect(isAlive(pids[0]!)).toBe(false);
    await sound();
  });

  it('gives no other document to a process that is being killed, though it may have answered', async () => {
    own = createParserPool({ size: 1 });
    const [html, again] = [await request('html', '<p>The mill</p>'), await request('pdf', endlessPdf)];
    const job = ({ path, kind, outputPath, chunking }: ParseRequest): ParseJob => {
      return { path, kind, outputPath, output: { chunking }, limits: defaultParseLimits };
    };
    const parser = startParserProcess(2048);
    await parser.run(job(html));
    expect(parser.alive).toBe(true);
    const stop = new AbortController();
    const stopped = parser.run(job(again), { signal: stop.signal });
    stop.abort(new Error('task cancelled'));
    expect(parser.alive).toBe(false);
    await expect(stopped).rejects.toThrow('task cancelled');
    await parser.kill();
    const other = startParserProcess(2048);
    const gone = other.kill();
    expect(other.alive).toBe(false);
    await gone;
  });

  it('refuses chunks of a size that cannot be kept', async () => {
    own = createParserPool({ size: 1 });
    const chunking = { chunkSize: 3, overlapRate: 0.2 };
    await expect(parse('txt', 'x', { chunking }, own)).rejects.toThrow(RangeError);
  });

  it('uses a process again, and replaces it after so many documents', async () => {
    pids = [];
    own = createParserPool({ size: 1, onStart, documentsPerProcess: 2 });
    for (let i = 0; i < 5; i++) await parse('html', '<p>The mill</p>', {}, own);
    expect(new Set(pids).size).toBe(3);
  });

  const PLAIN = ['txt', 'md', 'csv', 'tsv', 'json', 'jsonl', 'code'] as const;

  it('keeps a process for any number of long plain texts', async () => {
    pids = [];
    own = createParserPool({ size: 1, onStart, documentsPerProcess: 2 });
    const long = '["mill", 471]\n'.repeat(6000);
    const nested = `[${long.trim().replaceAll('\n', ',')}]`;
    for (const kind of PLAIN) await parse(kind, kind === 'json' ? nested : long, {}, own);
    expect(new Set(pids).size).toBe(1);
  });

  it('reads short plain texts in a thread, also while all processes are at work', async () => {
    pids = [];
    own = createParserPool({ size: 1, onStart, limits: { memoryMb: 16_384 } });
    const stop = new AbortController();
    const endless = parse('pdf', endlessPdf, { signal: stop.signal }, own).catch((error: unknown) => error);
    await until('the process is at work', () => Promise.resolve(pids.length === 1));
    for (const kind of PLAIN) {
      const { text, report } = await parse(kind, '[471]', {}, own);
      expect(text).toContain('471');
      expect(report).toMatchObject({ parser: expect.any(String) as unknown, peak_memory_mb: null });
    }
    expect(pids).toHaveLength(1);
    stop.abort();
    await endless;
  });

  it('ends a short text that takes too long, and the thread with it', async () => {
    own = createParserPool({ size: 1 });
    // The first one waits for the vocabulary, which takes some hundred milliseconds.
    const late = parse('txt', 'late', { limits: { timeoutMs: 1 } }, own);
    await expect(late).rejects.toMatchObject({ code: 'PARSE_TIMEOUT', details: { max: 1 } });
    await sound();
  });

  it('leaves a short text at once when it is no longer wanted, and those that wait', async () => {
    own = createParserPool({ size: 1 });
    const stop = new AbortController();
    const reason = new Error('task cancelled');
    const asked = await Promise.all([1, 2, 3].map(() => request('txt', 'text', { signal: stop.signal })));
    const all = asked.map((one) => own.parseAndChunk(one));
    const beside = parse('txt', 'wanted', {}, own);
    stop.abort(reason);
    expect(await Promise.allSettled(all)).toEqual(all.map(() => ({ status: 'rejected', reason })));
    expect((await beside).text).toBe('wanted');
  });

  it.each([
    ['memory', { heapMb: 16 }],
    ['time', { timeoutMs: 1 }],
  ])(
    'reads a short text in a process where it takes too much %s for the thread',
    async (_, plainTextLimits) => {
      pids = [];
      own = createParserPool({ size: 1, onStart, plainTextLimits });
      for (const text of ['one', 'two']) expect((await parse('txt', text, {}, own)).text).toBe(text);
      expect(new Set(pids).size).toBe(1);
    },
  );

  it('reads what comes after a renewal by a new process and a new thread', async () => {
    pids = [];
    own = createParserPool({ size: 1, onStart });
    const html = (): Promise<unknown> => parse('html', '<p>The mill</p>', {}, own);
    await html();
    const before = parse('txt', 'before', {}, own);
    own.renew();
    const after = parse('txt', 'after', {}, own);
    await html();
    expect([(await before).text, (await after).text]).toEqual(['before', 'after']);
    expect(new Set(pids).size).toBe(2);
  });

  it('gives the same chunks every time', async () => {
    own = createParserPool({ size: 2 });
    const bytes = writePdf(samplePages(5));
    const files = await Promise.all([1, 2].map(async () => (await parse('pdf', bytes, {}, own)).outputPath));
    const [first, second] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    expect(first).toBe(second);
  });

  it('rejects what is under way and what comes after when it is closed', async () => {
    own = createParserPool({ size: 1, limits: { memoryMb: 16_384 } });
    const running = parse('pdf', endlessPdf, {}, own);
    const closed = expect(running).rejects.toThrow('closed');
    await new Promise((done) => setTimeout(done, 300));
    await own.close();
    await closed;
    await expect(parse('txt', 'late', {}, own)).rejects.toThrow('closed');
  });
});

describe('the parent', () => {
  it.each([
    ['kernel', process.env.PATH],
    ['watching thread', '/nonexistent'],
  ])(
    'takes its parser with it by the %s, even out of a native loop',
    async (_, PATH) => {
      const { path } = await request('pdf', endlessPdf);
      const program = new URL('../../../support/documents/hold-parser.ts', import.meta.url);
      const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
      const { NODE_OPTIONS: _options, ...env } = process.env;
      const parent = spawn(process.execPath, ['--import', loader, program.pathname, path], {
        env: { ...env, PATH },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
      const pid = Number(line.split(' ')[1]);
      await new Promise((done) => setTimeout(done, 1000));
      expect(isAlive(pid)).toBe(true);
      parent.kill('SIGKILL');
      expect(await diesWithin(pid, 1500)).toBe(true);
    },
    30_000,
  );
});
